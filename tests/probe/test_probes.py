from __future__ import annotations

import sqlite3
from dataclasses import replace
from pathlib import Path

from tests.probe.plays import SMALL, played, small
from uniun_bots.inference.fingerprint import Fingerprint
from uniun_bots.probe.probes import Probe, forget_plays, keep_play, played_before, probe_of, probes
from uniun_bots.probe.scene import shown
from uniun_bots.probe.situation import SituationFile
from uniun_bots.runs.outcome import Ending

MODEL, OTHER = (
    Fingerprint("gguf:1:a", "path:a.gguf", {"size_bytes": 1}),
    Fingerprint("gguf:2:b", "path:b.gguf"),
)
TIDE = played(
    "tide",
    Ending.SUCCEEDED,
    ("publish-feed-note", {"body": "潮は06:40。"}),
    body="潮は06:40。",
    cites=("tide",),
)
QUIET = played("thanks", Ending.SILENT, ("stay-silent", {}))


def keep(tx: sqlite3.Connection, file: SituationFile, model: Fingerprint = MODEL) -> None:
    for done in (TIDE, QUIET):
        keep_play(tx, model, shown(file)[done.situation], done, 100.0)


def found(tx: sqlite3.Connection, file: SituationFile) -> Probe:
    probe = probe_of(tx, MODEL.key, file)
    assert probe is not None
    return probe


def test_what_was_played_is_read_as_it_was(tx: sqlite3.Connection, tmp_path: Path) -> None:
    file = small(tmp_path)
    keep(tx, file)
    probe = found(tx, file)
    assert set(map(str, probe.plays)) == {str(TIDE), str(QUIET)}
    assert (probe.model, probe.at, probe.missing, probe.is_whole) == (MODEL, 100.0, ("order",), False)
    assert probe.rates.answered.hits == 1


def test_a_model_that_was_never_played_is_not_known(tx: sqlite3.Connection, tmp_path: Path) -> None:
    keep(tx, small(tmp_path))
    assert probe_of(tx, OTHER.key, small(tmp_path)) is None


def test_plays_of_a_situation_that_shows_something_else_now_do_not_count(
    tx: sqlite3.Connection, tmp_path: Path
) -> None:
    keep(tx, small(tmp_path))
    probe = found(tx, small(tmp_path, SMALL.replace("Thank you.", "Thanks.")))
    assert ([one.situation for one in probe.plays], probe.outdated) == (["tide"], 1)
    assert set(probe.missing) == {"thanks", "order"}


def test_a_situation_that_is_only_judged_otherwise_is_judged_anew(
    tx: sqlite3.Connection, tmp_path: Path
) -> None:
    keep(tx, small(tmp_path))
    stricter = small(tmp_path, SMALL.replace('says: [["06:40"]]', 'says: [["19:05"]]'))
    assert (found(tx, stricter).rates.answered.hits, found(tx, stricter).outdated) == (0, 0)


def test_a_situation_that_was_renamed_keeps_its_plays(tx: sqlite3.Connection, tmp_path: Path) -> None:
    keep(tx, small(tmp_path))
    renamed = small(tmp_path, SMALL.replace("name: thanks", "name: only thanks"))
    assert {one.situation for one in found(tx, renamed).plays} == {"tide", "only thanks"}


def test_what_was_played_before_is_known_by_what_was_shown_and_its_number(
    tx: sqlite3.Connection, tmp_path: Path
) -> None:
    file = small(tmp_path)
    keep(tx, file)
    keep_play(tx, MODEL, shown(file)["tide"], replace(TIDE, number=2), 101.0)
    digests = shown(file)
    assert played_before(tx, MODEL.key) == {
        (digests["tide"], 1),
        (digests["tide"], 2),
        (digests["thanks"], 1),
    }
    assert played_before(tx, OTHER.key) == set()


def test_forgetting_one_model_leaves_the_others(tx: sqlite3.Connection, tmp_path: Path) -> None:
    file = small(tmp_path)
    keep(tx, file)
    keep(tx, file, OTHER)
    assert forget_plays(tx, MODEL.key) == 2
    assert [one.model.reference for one in probes(tx, file)] == ["path:b.gguf"]

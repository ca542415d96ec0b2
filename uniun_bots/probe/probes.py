"""What was played on which model, in the store."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection
from dataclasses import dataclass

from uniun_bots.inference.fingerprint import Fingerprint
from uniun_bots.probe.played import Played, read_played
from uniun_bots.probe.rates import Rates, rates
from uniun_bots.probe.scene import shown
from uniun_bots.probe.situation import SituationFile


@dataclass(frozen=True, slots=True)
class Probe:
    """All that is known of one model."""

    model: Fingerprint
    at: float
    """When it was played last."""
    plays: tuple[Played, ...]
    rates: Rates
    missing: tuple[str, ...]
    """Situations, as they are now, that it was never played in."""
    outdated: int
    """Plays of situations that have changed since."""

    @property
    def is_whole(self) -> bool:
        return not self.missing


def keep_play(tx: sqlite3.Connection, model: Fingerprint, digest: str, played: Played, now: float) -> None:
    tx.execute(
        "INSERT INTO probed_models (model, reference, facts, at) VALUES (?, ?, ?, ?) ON CONFLICT (model)"
        " DO UPDATE SET reference = excluded.reference, facts = excluded.facts, at = excluded.at",
        (model.key, model.reference, json.dumps(dict(model.facts)), now),
    )
    tx.execute(
        "INSERT OR REPLACE INTO probes (model, shown, number, situation, played, at) VALUES (?, ?, ?, ?, ?, ?)",
        (model.key, digest, played.number, played.situation, played.as_json(), now),
    )


def forget_plays(tx: sqlite3.Connection, key: str) -> int:
    tx.execute("DELETE FROM probed_models WHERE model = ?", (key,))
    return tx.execute("DELETE FROM probes WHERE model = ?", (key,)).rowcount


def played_before(tx: sqlite3.Connection, key: str) -> set[tuple[str, int]]:
    """What a situation showed, and the number of the play."""
    rows = tx.execute("SELECT shown, number FROM probes WHERE model = ?", (key,))
    return {(row["shown"], row["number"]) for row in rows}


def probe_of(tx: sqlite3.Connection, key: str, file: SituationFile) -> Probe | None:
    """None for a model that was never played."""
    row = tx.execute("SELECT * FROM probed_models WHERE model = ?", (key,)).fetchone()
    if row is None:
        return None
    model = Fingerprint(key, row["reference"], json.loads(row["facts"]))
    now = {digest: name for name, digest in shown(file).items()}
    found = tx.execute("SELECT shown, played FROM probes WHERE model = ?", (key,)).fetchall()
    plays = [read_played(one["played"], now[one["shown"]]) for one in found if one["shown"] in now]
    order = {one.name: place for place, one in enumerate(file.situations)}
    plays.sort(key=lambda played: (order[played.situation], played.number))
    return Probe(
        model,
        row["at"],
        tuple(plays),
        rates(file, plays),
        _missing(file, {played.situation for played in plays}),
        len(found) - len(plays),
    )


def probes(tx: sqlite3.Connection, file: SituationFile) -> list[Probe]:
    """The one that was played last comes first."""
    keys = [row[0] for row in tx.execute("SELECT model FROM probed_models ORDER BY at DESC")]
    return [found for key in keys if (found := probe_of(tx, key, file))]


def _missing(file: SituationFile, played: Collection[str]) -> tuple[str, ...]:
    return tuple(one.name for one in file.situations if one.name not in played)

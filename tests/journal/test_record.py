from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from tests.publishing.values import NOW, note, said, turn
from uniun_bots.database.migrate import migrate
from uniun_bots.database.store import connect
from uniun_bots.journal import record
from uniun_bots.journal.record import bury, dead_letters, prune_runs, record_run


@pytest.fixture
def tx(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    with closing(connect(tmp_path / "one.sqlite")) as conn:
        migrate(conn)
        yield conn


def run(tx: sqlite3.Connection, gana: str, number: int) -> int:
    return record_run(
        tx,
        turn(note(number), gana=gana),
        said("Yes."),
        mode="live",
        event_id=None,
        started_at=NOW,
        ended_at=NOW,
    )


def kept(tx: sqlite3.Connection, gana: str) -> list[int]:
    return [row[0] for row in tx.execute("SELECT run FROM runs WHERE gana = ? ORDER BY run", (gana,))]


def test_a_run_is_kept_with_what_the_model_wrote_in_each_round(tx: sqlite3.Connection) -> None:
    number = run(tx, "tide", 1)
    (step,) = tx.execute("SELECT * FROM steps WHERE run = ?", (number,))
    assert (step["round"], step["model"], step["text"], step["note"]) == (1, "scripted", "Yes.", "answered")
    assert (step["prompt_tokens"], step["generated_tokens"]) == (10, 3)


def test_a_round_is_kept_with_what_its_time_went_into(tx: sqlite3.Connection) -> None:
    outcome = said("Yes.")
    (step,) = outcome.steps
    took = replace(step.completion, waiting_ms=9000.0, reuse_ms=30.0, evaluate_ms=500.0, generate_ms=700.0)
    outcome = replace(outcome, steps=(replace(step, completion=took),))
    record_run(tx, turn(note(1)), outcome, mode="live", event_id=None, started_at=NOW, ended_at=NOW)
    (row,) = tx.execute("SELECT waiting_ms, prompt_ms, generating_ms FROM steps")
    assert tuple(row) == (9000.0, 530.0, 700.0)


def test_the_ten_newest_runs_of_each_gana_stay(tx: sqlite3.Connection) -> None:
    busy = [run(tx, "tide", number) for number in range(25)]
    quiet = [run(tx, "harbour", number) for number in range(3)]
    assert prune_runs(tx) == 15
    assert kept(tx, "tide") == busy[-10:]
    assert kept(tx, "harbour") == quiet
    assert tx.execute("SELECT count(*) FROM steps").fetchone()[0] == 13
    assert prune_runs(tx) == 0


def test_a_thousand_runs_stay_in_all(tx: sqlite3.Connection) -> None:
    assert record.RUNS_IN_ALL == 1000
    made = [run(tx, f"gana-{number % 120}", number) for number in range(1200)]
    assert prune_runs(tx) == 200
    left = [row[0] for row in tx.execute("SELECT run FROM runs ORDER BY run")]
    assert left == made[-1000:]


def test_a_run_number_is_never_given_twice(tx: sqlite3.Connection) -> None:
    last = run(tx, "tide", 1)
    tx.execute("DELETE FROM runs")
    assert run(tx, "tide", 2) > last


def test_a_dead_letter_is_written_once(tx: sqlite3.Connection) -> None:
    for reason in ("first", "second"):
        bury(tx, kind="delivery", gana="", surface="", key="ab", reason=reason, now=NOW)
    assert [letter.reason for letter in dead_letters(tx)] == ["first"]


def test_dead_letters_of_one_gana_are_told_newest_first(tx: sqlite3.Connection) -> None:
    for gana, key in (("tide", "a"), ("moon", "b"), ("tide", "c")):
        bury(tx, kind="turn", gana=gana, surface="", key=key, reason="", now=NOW)
    assert [letter.key for letter in dead_letters(tx, "tide")] == ["c", "a"]
    assert [letter.key for letter in dead_letters(tx)] == ["c", "b", "a"]

"""Runs that stand in the log from their first moment on."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.publishing.values import NOW, note, said, turn
from uniun_bots.database.migrate import migrate
from uniun_bots.database.store import connect
from uniun_bots.journal.attempt import HOST_ENDED, UNWRITTEN, begin_attempt, end_dead_attempts, skip_attempt
from uniun_bots.journal.record import prune_runs, record_run
from uniun_bots.journal.steps import PREVIEW_CHARS, write_steps
from uniun_bots.runs.outcome import Step

TURN = turn(note(1), gana="tide")
STEP = replace(
    said("Yes.").steps[0],
    skill="search-notes",
    arguments='{"query":"tide"}',
    result='{"notes":[]}',
    note_ids=("aa", "bb"),
    executing_ms=4.5,
)


@pytest.fixture
def tx(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    with closing(connect(tmp_path / "one.sqlite")) as conn:
        migrate(conn)
        yield conn


def begin(tx: sqlite3.Connection) -> int:
    return begin_attempt(tx, TURN, mode="live", now=NOW)


def run_row(tx: sqlite3.Connection, run: int) -> dict[str, Any]:
    return dict(tx.execute("SELECT * FROM runs WHERE run = ?", (run,)).fetchone())


def end(tx: sqlite3.Connection, run: int, *steps: Step) -> int:
    outcome = replace(said("Yes."), steps=steps)
    return record_run(tx, TURN, outcome, mode="live", event_id="e", started_at=NOW, ended_at=NOW + 2, run=run)


def test_a_run_stands_in_the_log_while_it_runs_and_ends_under_the_same_number(tx: sqlite3.Connection) -> None:
    run = begin(tx)
    assert (run_row(tx, run)["ending"], run_row(tx, run)["attempt"]) == ("running", 1)
    write_steps(tx, run, [STEP])
    assert end(tx, run, STEP, replace(STEP, round=2)) == run
    row = run_row(tx, run)
    assert (row["ending"], row["body"], row["event_id"], row["ended_at"]) == (
        "succeeded",
        "Yes.",
        "e",
        NOW + 2,
    )
    assert [r["round"] for r in tx.execute("SELECT round FROM steps WHERE run = ?", (run,))] == [1, 2]


def test_a_step_keeps_what_was_called_with_what_and_what_came_of_it(tx: sqlite3.Connection) -> None:
    long = replace(STEP, result="x" * 5000)
    write_steps(tx, 1, [long])
    row = dict(tx.execute("SELECT * FROM steps").fetchone())
    assert (row["skill"], row["arguments"], row["executing_ms"]) == ("search-notes", '{"query":"tide"}', 4.5)
    assert json.loads(row["note_ids"]) == ["aa", "bb"]
    assert row["result"].startswith("x" * PREVIEW_CHARS) and len(row["result"]) < PREVIEW_CHARS + 50


def test_after_a_crash_the_dead_attempt_keeps_its_steps_and_the_next_one_has_another_number(
    tx: sqlite3.Connection,
) -> None:
    dead = begin(tx)
    write_steps(tx, dead, [STEP])
    assert end_dead_attempts(tx, NOW + 9) == 1
    run = begin(tx)
    end(tx, run, STEP)
    assert (run_row(tx, dead)["ending"], run_row(tx, dead)["reason"]) == ("failed", HOST_ENDED)
    assert [run_row(tx, one)["attempt"] for one in (dead, run)] == [1, 2]
    assert [row[0] for row in tx.execute("SELECT run FROM steps ORDER BY run")] == [dead, run]
    assert end_dead_attempts(tx, NOW) == 0


def test_the_attempt_of_another_turn_does_not_count(tx: sqlite3.Connection) -> None:
    begin(tx)
    other = begin_attempt(tx, turn(note(2), gana="tide"), mode="live", now=NOW)
    assert run_row(tx, other)["attempt"] == 1
    assert run_row(tx, begin_attempt(tx, replace(TURN, attempt=4), mode="live", now=NOW))["attempt"] == 4


def test_an_attempt_whose_end_could_not_be_written_ends_when_the_next_one_begins(
    tx: sqlite3.Connection,
) -> None:
    lost, other = begin(tx), begin_attempt(tx, turn(note(2), gana="tide"), mode="live", now=NOW)
    run = begin(tx)
    assert [run_row(tx, one)["ending"] for one in (lost, other, run)] == ["failed", "running", "running"]
    assert run_row(tx, lost)["reason"] == UNWRITTEN


def test_what_was_taken_from_a_run_skips_it_with_the_reason(tx: sqlite3.Connection) -> None:
    run = begin(tx)
    skip_attempt(tx, run, "tide was paused", NOW + 1)
    assert (run_row(tx, run)["ending"], run_row(tx, run)["reason"]) == ("skipped", "tide was paused")
    done = begin(tx)
    end(tx, done)
    skip_attempt(tx, done, "too late", NOW)
    assert run_row(tx, done)["ending"] == "succeeded"


def test_what_runs_is_not_pruned_however_much_there_is(tx: sqlite3.Connection) -> None:
    running = [
        begin_attempt(tx, turn(note(number), gana="tide"), mode="live", now=NOW) for number in range(2, 14)
    ]
    ended = [end(tx, begin(tx)) for _ in range(12)]
    assert prune_runs(tx) == 2
    left = [row[0] for row in tx.execute("SELECT run FROM runs ORDER BY run")]
    assert left == running + ended[2:]

"""Runs, their steps, and dead letters, as rows."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from uniun_bots.inputs.turn import Turn
from uniun_bots.journal.attempt import RUNNING
from uniun_bots.journal.steps import write_steps
from uniun_bots.runs.outcome import Outcome

RUNS_PER_GANA = 10
RUNS_IN_ALL = 1000


@dataclass(frozen=True, slots=True)
class DeadLetter:
    letter: int
    kind: str
    """`turn`: its tries are used up. `delivery`: no relay took the event."""
    gana: str
    surface: str
    key: str
    reason: str
    at: float


def record_run(
    tx: sqlite3.Connection,
    turn: Turn,
    outcome: Outcome,
    *,
    mode: str,
    event_id: str | None,
    started_at: float,
    ended_at: float,
    run: int | None = None,
    knowledge: Sequence[str] = (),
) -> int:
    """`run`: the number that it got when it began. `knowledge`: ids of notes."""
    shown = json.dumps(knowledge)
    ended = (outcome.ending, outcome.reason, outcome.body, event_id, started_at, ended_at, shown)
    if run is not None:
        tx.execute(
            "UPDATE runs SET ending = ?, reason = ?, body = ?, event_id = ?, started_at = ?, ended_at = ?,"
            " knowledge = ? WHERE run = ?",
            (*ended, run),
        )
    else:
        cursor = tx.execute(
            "INSERT INTO runs (gana, surface, mode, keys, attempt, ending, reason, body, event_id, started_at,"
            " ended_at, knowledge) VALUES (?,?,?,?,?,?,?,?,?,?,?,?)",
            (turn.gana, turn.surface, mode, json.dumps(turn.keys), turn.attempt, *ended),
        )
        run = int(cursor.lastrowid or 0)
    write_steps(tx, run, outcome.steps)
    return run


def bury(
    tx: sqlite3.Connection, *, kind: str, gana: str, surface: str, key: str, reason: str, now: float
) -> None:
    tx.execute(
        "INSERT OR IGNORE INTO dead_letters (kind, gana, surface, key, reason, at) VALUES (?,?,?,?,?,?)",
        (kind, gana, surface, key, reason, now),
    )


def dead_letters(tx: sqlite3.Connection, gana: str | None = None) -> list[DeadLetter]:
    """The newest first; of one Gana or of all."""
    rows = tx.execute(
        "SELECT * FROM dead_letters WHERE ?1 IS NULL OR gana = ?1 ORDER BY letter DESC", (gana,)
    )
    return [DeadLetter(**dict(row)) for row in rows]


def prune_runs(tx: sqlite3.Connection) -> int:
    """The newest RUNS_PER_GANA of each Gana and RUNS_IN_ALL in all stay, and what runs; returns how many went."""
    gone = [
        row[0]
        for row in tx.execute(
            "SELECT run FROM (SELECT run, row_number() OVER (PARTITION BY gana ORDER BY run DESC) AS nth,"
            " row_number() OVER (ORDER BY run DESC) AS place FROM runs WHERE ending != ?) WHERE nth > ? OR place > ?",
            (RUNNING, RUNS_PER_GANA, RUNS_IN_ALL),
        )
    ]
    tx.executemany("DELETE FROM steps WHERE run = ?", [(run,) for run in gone])
    tx.executemany("DELETE FROM runs WHERE run = ?", [(run,) for run in gone])
    return len(gone)

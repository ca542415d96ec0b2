"""A run of several rounds stands in the log from its first moment on, so that a crash leaves what it had done."""

from __future__ import annotations

import json
import sqlite3

from uniun_bots.inputs.turn import Turn
from uniun_bots.runs.outcome import Ending

RUNNING = "running"
"""In the place of an ending."""
HOST_ENDED = "the host ended before this attempt did"
UNWRITTEN = "its end could not be written"


def begin_attempt(tx: sqlite3.Connection, turn: Turn, *, mode: str, now: float) -> int:
    """The run's number. Each attempt at a turn has a number of its own, those that a crash ended included.

    A turn is run once at a time: an earlier attempt that is still under way by the log has ended without a trace,
    as on a full disk.
    """
    tx.execute(
        "UPDATE runs SET ending = ?, reason = ?, ended_at = ?"
        " WHERE ending = ? AND gana = ? AND json_extract(keys, '$[0]') = ?",
        (Ending.FAILED, UNWRITTEN, now, RUNNING, turn.gana, turn.key),
    )
    before = tx.execute(
        "SELECT max(attempt) FROM runs WHERE gana = ? AND json_extract(keys, '$[0]') = ?",
        (turn.gana, turn.key),
    ).fetchone()[0]
    cursor = tx.execute(
        "INSERT INTO runs (gana, surface, mode, keys, attempt, ending, reason, started_at, ended_at)"
        " VALUES (?,?,?,?,?,?,'',?,?)",
        (
            turn.gana,
            turn.surface,
            mode,
            json.dumps(turn.keys),
            max(turn.attempt, 1 + (before or 0)),
            RUNNING,
            now,
            now,
        ),
    )
    return int(cursor.lastrowid or 0)


def skip_attempt(tx: sqlite3.Connection, run: int, reason: str, now: float) -> None:
    """What it was going to answer was taken from it; nothing else of it is decided."""
    tx.execute(
        "UPDATE runs SET ending = ?, reason = ?, ended_at = ? WHERE run = ? AND ending = ?",
        (Ending.SKIPPED, reason, now, run, RUNNING),
    )


def end_dead_attempts(tx: sqlite3.Connection, now: float) -> int:
    """At the start of a host nothing runs: what is under way by the log was ended by a crash. Returns how many."""
    found = tx.execute(
        "UPDATE runs SET ending = ?, reason = ?, ended_at = ? WHERE ending = ?",
        (Ending.FAILED, HOST_ENDED, now, RUNNING),
    )
    return found.rowcount

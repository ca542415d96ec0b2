"""Turns that failed and wait for their next try, at most MOST_ATTEMPTS times."""

from __future__ import annotations

import sqlite3

from uniun_bots.inputs.turn import Turn

MOST_ATTEMPTS = 5
BACKOFF_S = (5.0, 30.0, 120.0, 600.0)


def put_off(tx: sqlite3.Connection, turn: Turn, reason: str, now: float) -> float | None:
    """When it may be tried again, or None when its tries are used up: then it is for the caller to decide it."""
    if turn.attempt >= MOST_ATTEMPTS:
        return None
    again = now + BACKOFF_S[turn.attempt - 1]
    tx.execute(
        "INSERT INTO retries (gana, key, surface, attempts, not_before, reason, at) VALUES (?,?,?,?,?,?,?)"
        " ON CONFLICT (gana, key) DO UPDATE SET attempts = excluded.attempts,"
        " not_before = excluded.not_before, reason = excluded.reason, at = excluded.at",
        (turn.gana, turn.key, turn.surface, turn.attempt, again, reason, now),
    )
    return again


def waiting(tx: sqlite3.Connection, gana: str) -> dict[str, tuple[int, float]]:
    """Key to (attempts so far, not before)."""
    rows = tx.execute("SELECT key, attempts, not_before FROM retries WHERE gana = ?", (gana,))
    return {row["key"]: (row["attempts"], row["not_before"]) for row in rows}


def forget(tx: sqlite3.Connection, gana: str, *keys: str) -> None:
    tx.executemany("DELETE FROM retries WHERE gana = ? AND key = ?", [(gana, key) for key in keys])

"""What people do to a host from outside. Each is one unit of the store: through a running host, or under the lease."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable

from uniun_bots.errors import NotFound
from uniun_bots.inputs import enabled
from uniun_bots.inputs.retries import forget
from uniun_bots.journal.attempt import RUNNING


def pause(tx: sqlite3.Connection, ganas: Iterable[str], why: str) -> None:
    for gana in ganas:
        enabled.pause(tx, gana, why)


def turn_off(tx: sqlite3.Connection, ganas: Iterable[str]) -> None:
    for gana in ganas:
        enabled.turn_off(tx, gana)


def resume(tx: sqlite3.Connection, ganas: list[str]) -> None:
    for gana in ganas:
        enabled.resume(tx, gana)


def retry(tx: sqlite3.Connection, run: int) -> str:
    """Make a failed turn pending again: its decisions and its dead letter go. Returns the Gana.

    Raises NotFound when there is nothing to retry; what a later run answered stays answered.
    """
    row = tx.execute("SELECT gana, surface, keys, ending FROM runs WHERE run = ?", (run,)).fetchone()
    if row is None:
        raise NotFound(f"there is no run {run}; see `uniun-bots runs list`")
    if row["ending"] in ("succeeded", "silent"):
        raise NotFound(f"run {run} ended {row['ending']}: there is nothing to retry")
    if row["ending"] == RUNNING:
        raise NotFound(f"run {run} is still under way")
    gana, keys = row["gana"], _undone(tx, row["gana"], row["keys"])
    if not keys:
        raise NotFound(f"the inputs of run {run} were answered since: there is nothing to retry")
    for key in keys:
        tx.execute("DELETE FROM answered WHERE gana = ? AND key = ?", (gana, key))
        tx.execute("DELETE FROM dead_letters WHERE gana = ? AND key = ? AND kind = 'turn'", (gana, key))
        forget(tx, gana, key)
        if key.startswith("due:"):
            tx.execute("UPDATE timetable SET due = ? WHERE gana = ?", (int(key[4:]), gana))
    low = tx.execute(
        "SELECT min(seq) FROM notes WHERE id IN (SELECT value FROM json_each(?))", (json.dumps(keys),)
    ).fetchone()[0]
    if low is not None:
        # A person's word: the one way in which a cursor goes back. What lies between is decided already.
        tx.execute(
            "UPDATE cursors SET seq = min(seq, ?) WHERE gana = ? AND surface = ?", (low, gana, row["surface"])
        )
    return str(gana)


def _undone(tx: sqlite3.Connection, gana: str, keys: str) -> list[str]:
    rows = tx.execute(
        "SELECT value FROM json_each(?) WHERE value NOT IN (SELECT key FROM answered WHERE gana = ?"
        " AND ending IN ('succeeded', 'silent', 'elsewhere'))",
        (keys, gana),
    )
    return [row[0] for row in rows]


def published_by(tx: sqlite3.Connection, run: int) -> tuple[str, str, list[str]]:
    """(Gana, event id, relays) of what a run published. Raises NotFound."""
    row = tx.execute(
        "SELECT o.gana, o.event_id FROM runs r JOIN outbox o ON o.event_id = r.event_id WHERE r.run = ?",
        (run,),
    ).fetchone()
    if row is None:
        raise NotFound(f"run {run} published nothing that could be retracted")
    relays = [r[0] for r in tx.execute("SELECT relay FROM receipts WHERE event_id = ?", (row["event_id"],))]
    return row["gana"], row["event_id"], relays


def stop_sending(tx: sqlite3.Connection, event_id: str) -> None:
    """What was not sent yet must not go out after its own deletion."""
    tx.execute("UPDATE receipts SET next_at = NULL WHERE event_id = ?", (event_id,))

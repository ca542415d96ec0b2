"""The rows that say an input is decided: answered (by any ending), or held by a guard."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from uniun_bots.errors import UniunError
from uniun_bots.inputs.held import Held
from uniun_bots.inputs.retries import forget
from uniun_bots.inputs.turn import Turn


class AlreadyDecided(UniunError):
    """Another run covered one of these inputs first; this one's result must be thrown away."""


def decide(tx: sqlite3.Connection, turn: Turn, *, run: int, ending: str, thread: str, now: float) -> None:
    """One row per covered input; the unique key is the fence. Raises AlreadyDecided."""
    author = turn.notes[0].author if turn.notes else ""
    try:
        tx.executemany(
            "INSERT INTO answered (gana, key, run, ending, surface, author, thread, at) VALUES (?,?,?,?,?,?,?,?)",
            [(turn.gana, key, run, ending, turn.surface, author, thread, now) for key in turn.keys],
        )
    except sqlite3.IntegrityError as fault:
        raise AlreadyDecided(f"{turn.gana}: {turn.key} was decided by another run") from fault
    if turn.attempt > 1 or len(turn.keys) > 1:  # else nothing was put off
        forget(tx, turn.gana, *turn.keys)


def decide_elsewhere(tx: sqlite3.Connection, gana: str, surface: str, note_id: str, now: float) -> None:
    """A reply by our key that this data folder did not make: whatever it answers is answered."""
    tx.execute(
        "INSERT OR IGNORE INTO answered (gana, key, run, ending, surface, author, thread, at)"
        " VALUES (?, ?, NULL, 'elsewhere', ?, '', '', ?)",
        (gana, note_id, surface, now),
    )
    forget(tx, gana, note_id)


def hold(tx: sqlite3.Connection, gana: str, held: Sequence[Held], now: float) -> None:
    tx.executemany(
        "INSERT OR IGNORE INTO held (gana, note_id, reason, setting, at) VALUES (?, ?, ?, ?, ?)",
        [(gana, one.note_id, one.reason, one.setting, now) for one in held],
    )


def already_decided(tx: sqlite3.Connection, turn: Turn) -> bool:
    marks = ",".join("?" * len(turn.keys))
    found = tx.execute(
        f"SELECT 1 FROM answered WHERE gana = ? AND key IN ({marks})",  # noqa: S608
        (turn.gana, *turn.keys),
    )
    return found.fetchone() is not None

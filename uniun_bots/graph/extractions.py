"""The queue of notes that wait for a memory. Rows: what a crash interrupts is done after the next start."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from uniun_bots.graph.find import COLUMNS, as_note
from uniun_bots.graph.note import Note

LONG_ENOUGH_BYTES = 280
"""A shorter note is its own summary; the trigger in the migration knows this number too."""
TRIES = 3
FIRST_PAUSE_S = 60.0
BATCH = 500


@dataclass(frozen=True, slots=True)
class Waiting:
    """A note that is to get a memory."""

    note: Note
    attempt: int
    """1 at the first try."""


@dataclass(frozen=True, slots=True)
class Backlog:
    kept: int
    waiting: int
    given_up: int


def unqueued(tx: sqlite3.Connection) -> bool:
    """Whether notes came that were not looked at for the queue."""
    row = tx.execute("SELECT max(n.seq) > m.seq FROM extract_mark m, notes n").fetchone()
    return bool(row[0])


def enqueue(tx: sqlite3.Connection) -> int:
    """Look at the next notes; how many. Call again while it returns BATCH."""
    rows = tx.execute(
        "SELECT seq, deleted, length(CAST(text AS BLOB)) AS bytes FROM notes"
        " WHERE seq > (SELECT seq FROM extract_mark) ORDER BY seq LIMIT ?",
        (BATCH,),
    ).fetchall()
    if not rows:
        return 0
    tx.executemany(
        "INSERT OR IGNORE INTO extractions (seq) VALUES (?)",
        [(row["seq"],) for row in rows if row["bytes"] >= LONG_ENOUGH_BYTES and not row["deleted"]],
    )
    tx.execute("UPDATE extract_mark SET seq = ?", (rows[-1]["seq"],))
    return len(rows)


def due(tx: sqlite3.Connection, now: float, limit: int) -> list[Waiting]:
    """The newest notes first: they are asked about most."""
    rows = tx.execute(
        f"SELECT {COLUMNS}, e.attempts FROM extractions e CROSS JOIN notes n ON n.seq = e.seq"  # noqa: S608
        " WHERE e.not_before <= ? ORDER BY e.seq DESC LIMIT ?",
        (now, limit),
    )
    return [Waiting(as_note(row), row["attempts"] + 1) for row in rows]


def next_due(tx: sqlite3.Connection) -> float | None:
    """Unix seconds; None when nothing waits."""
    row = tx.execute("SELECT min(not_before) FROM extractions WHERE not_before IS NOT NULL").fetchone()
    return None if row[0] is None else float(row[0])


def put_off(
    tx: sqlite3.Connection, waiting: Waiting, reason: str, now: float, *, counts: bool = True
) -> None:
    """One try is used up, and after the last one the note is given up; unless the note is not to blame."""
    attempts = waiting.attempt if counts else waiting.attempt - 1
    again = None if attempts >= TRIES else now + FIRST_PAUSE_S * 2 ** max(0, attempts - 1)
    tx.execute(
        "UPDATE extractions SET attempts = ?, not_before = ?, reason = ? WHERE seq = ?",
        (attempts, again, reason, waiting.note.seq),
    )


def backlog(tx: sqlite3.Connection) -> Backlog:
    kept = tx.execute("SELECT count(*) FROM memories").fetchone()[0]
    row = tx.execute("SELECT count(not_before), count(*) FROM extractions").fetchone()
    return Backlog(kept, row[0], row[1] - row[0])


def memory_of(tx: sqlite3.Connection, seq: int) -> tuple[str | None, str]:
    """The memory of one note, and why it has none."""
    kept = tx.execute("SELECT text FROM memories WHERE seq = ?", (seq,)).fetchone()
    if kept:
        return str(kept[0]), ""
    row = tx.execute("SELECT attempts, not_before, reason FROM extractions WHERE seq = ?", (seq,)).fetchone()
    if row is None:
        return None, ""
    state = "given up" if row["not_before"] is None else "waits for the model"
    return None, f"{state}: {row['reason']}" if row["reason"] else state

"""How far a dump has been imported, kept in the same transaction as its notes, so that a crash loses nothing."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from uniun_bots.graph.keep import Kept, keep
from uniun_bots.nostr.event import Event
from uniun_bots.relays.heard import Heard


@dataclass(frozen=True, slots=True)
class Mark:
    """Everything in the file before `offset` is kept."""

    file: str
    """Its whole path."""
    offset: int
    """In bytes."""
    line: int
    """Lines before `offset`."""
    tail: str
    """A digest of what stands before `offset`: by it the file is known again, also when it has grown."""


def import_mark(tx: sqlite3.Connection, file: str) -> Mark | None:
    row = tx.execute("SELECT file, offset, line, tail FROM imports WHERE file = ?", (file,)).fetchone()
    return Mark(*row) if row else None


def set_mark(tx: sqlite3.Connection, mark: Mark) -> None:
    tx.execute(
        "INSERT INTO imports (file, offset, line, tail) VALUES (?, ?, ?, ?) ON CONFLICT (file)"
        " DO UPDATE SET offset = excluded.offset, line = excluded.line, tail = excluded.tail",
        (mark.file, mark.offset, mark.line, mark.tail),
    )


def forget_mark(tx: sqlite3.Connection, file: str) -> None:
    """The file is through."""
    tx.execute("DELETE FROM imports WHERE file = ?", (file,))


def keep_batch(tx: sqlite3.Connection, events: Sequence[Event], at: float, mark: Mark | None) -> Kept:
    """Events that were verified, from no relay."""
    kept = keep(tx, [Heard(event, "", at) for event in events])
    if mark:
        set_mark(tx, mark)
    return kept

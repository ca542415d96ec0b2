"""Notes that a reply made elsewhere covers without naming them.

A turn is the oldest pending note and the later ones with it, and its reply names the last of them. So when our key
answered a note from another data folder (a lost one, another machine), what went with it before is answered too.
"""

from __future__ import annotations

import sqlite3

from uniun_bots.graph.find import COLUMNS, as_note
from uniun_bots.graph.note import Note


def answered_elsewhere(tx: sqlite3.Connection, gana: str, surface: str, since: int) -> list[Note]:
    """Those of this surface, dated `since` or later."""
    rows = tx.execute(
        f"SELECT {COLUMNS} FROM answered a INDEXED BY answered_elsewhere JOIN notes n ON n.id = a.key"  # noqa: S608
        " JOIN surfaces s ON s.surface = ? AND s.seq = n.seq"
        " WHERE a.gana = ? AND a.run IS NULL AND a.ending = 'elsewhere' AND n.created_at >= ?",
        (surface, gana, since),
    )
    return [as_note(row) for row in rows]

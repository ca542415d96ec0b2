"""The low-water cursor of (Gana, surface): the lowest arrival number that is not decided yet."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection

from uniun_bots.graph.find import COLUMNS, as_note
from uniun_bots.graph.note import Note

# Decided = answered (by any ending, dead letters included) or held. Our own identities never become inputs, so
# they need no row; what we sent ourselves stays ours when its identity is no longer hosted.
_PENDING = """
  FROM surfaces s JOIN notes n ON n.seq = s.seq
  WHERE s.surface = :surface AND n.origin = 'relay' AND s.seq >= max(:after + 1, coalesce(
      (SELECT c.seq FROM cursors c WHERE c.gana = :gana AND c.surface = :surface),
      (SELECT g.start_seq FROM ganas g WHERE g.gana = :gana), 0))
    AND n.author NOT IN (SELECT value FROM json_each(:own))
    AND NOT EXISTS (SELECT 1 FROM answered a WHERE a.gana = :gana AND a.key = n.id)
    AND NOT EXISTS (SELECT 1 FROM held h WHERE h.gana = :gana AND h.note_id = n.id)
"""


def cursor(tx: sqlite3.Connection, gana: str, surface: str) -> int:
    row = tx.execute("SELECT seq FROM cursors WHERE gana = ? AND surface = ?", (gana, surface)).fetchone()
    if row:
        return int(row[0])
    start = tx.execute("SELECT start_seq FROM ganas WHERE gana = ?", (gana,)).fetchone()
    return int(start[0]) if start else 0


def begin(tx: sqlite3.Connection, gana: str, surface: str) -> None:
    """Write down where a new cursor starts, so that retention leaves alone what it has not passed."""
    tx.execute(
        "INSERT OR IGNORE INTO cursors (gana, surface, seq) VALUES (?, ?, ?)",
        (gana, surface, cursor(tx, gana, surface)),
    )


def pending(
    tx: sqlite3.Connection, gana: str, surface: str, own: str, *, after: int = 0, most: int = 32
) -> list[Note]:
    """Undecided notes in arrival order, from the cursor (or past `after`) on. `own`: JSON list of our keys."""
    rows = tx.execute(
        f"SELECT {COLUMNS} {_PENDING} ORDER BY s.seq LIMIT :most",
        {"surface": surface, "after": after, "own": own, "gana": gana, "most": most},
    )
    return [as_note(row) for row in rows]


def pending_authors(tx: sqlite3.Connection, gana: str, surface: str, own: str, *, most: int) -> set[str]:
    rows = tx.execute(
        f"SELECT DISTINCT n.author {_PENDING} LIMIT :most",
        {"surface": surface, "after": 0, "own": own, "gana": gana, "most": most},
    )
    return {row[0] for row in rows}


def advance(tx: sqlite3.Connection, gana: str, surface: str, own: str) -> bool:
    """Move the cursor over what is decided; never back. True when something is still pending."""
    row = tx.execute(
        f"SELECT n.seq {_PENDING} ORDER BY s.seq LIMIT 1",
        {"surface": surface, "after": 0, "own": own, "gana": gana},
    ).fetchone()
    if row:
        to = int(row[0])
    else:
        top = tx.execute("SELECT max(seq) FROM surfaces WHERE surface = ?", (surface,)).fetchone()[0]
        to = max(cursor(tx, gana, surface), (top or 0) + 1)
    tx.execute(
        "INSERT INTO cursors (gana, surface, seq) VALUES (?, ?, ?)"
        " ON CONFLICT (gana, surface) DO UPDATE SET seq = max(seq, excluded.seq)",
        (gana, surface, to),
    )
    return row is not None


def pending_count(tx: sqlite3.Connection, gana: str, surface: str, own: str) -> int:
    return int(
        tx.execute(
            f"SELECT count(*) {_PENDING}",
            {"surface": surface, "after": 0, "own": own, "gana": gana},
        ).fetchone()[0]
    )


def surfaces_with_pending(
    tx: sqlite3.Connection, watching: Collection[tuple[str, str]], own: str
) -> list[tuple[str, str]]:
    """Those (Gana, surface) that have something undecided: what a start must wake."""
    return [(gana, surface) for gana, surface in watching if pending(tx, gana, surface, own, most=1)]


def own_keys(pubkeys: Collection[str]) -> str:
    """Hosted public keys in the form that the questions here take them."""
    return json.dumps(sorted(pubkeys))

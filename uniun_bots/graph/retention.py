"""Retention: old notes that nothing needs lose their text; their rows stay as tombstones, so seq stays true."""

from __future__ import annotations

import sqlite3

from uniun_bots.graph.words import words

BATCH = 500


def prune_notes(tx: sqlite3.Connection, older_than: float) -> int:
    """Up to BATCH notes from relays heard before `older_than`, in no Manas, below every cursor of their surfaces.

    The cursor of a Gana that is off, or whose file is gone, holds nothing back: else it would do so for good.

    Call again while it returns BATCH. Deleted from every table but `notes`, `addresses` and `heard`.
    """
    rows = tx.execute(
        "SELECT n.seq, n.text FROM notes n WHERE n.heard_at < ? AND n.origin = 'relay' AND n.raw IS NOT NULL"
        # A note that its author took back is nobody's knowledge any more.
        " AND (n.deleted != 0 OR NOT EXISTS (SELECT 1 FROM manas_notes m WHERE m.seq = n.seq))"
        " AND NOT EXISTS (SELECT 1 FROM surfaces s JOIN cursors c ON c.surface = s.surface"
        "                 JOIN ganas g ON g.gana = c.gana AND g.enabled = 1"
        "                 WHERE s.seq = n.seq AND c.seq <= n.seq) LIMIT ?",
        (older_than, BATCH),
    ).fetchall()
    seqs = [(row["seq"],) for row in rows]
    tx.executemany(
        "INSERT INTO notes_text (notes_text, rowid, words) VALUES ('delete', ?, ?)",
        [(row["seq"], words(row["text"])) for row in rows],
    )
    tx.executemany("UPDATE notes SET raw = NULL, text = '' WHERE seq = ?", seqs)
    for table in ("surfaces", "edges", "topics", "manas_notes"):
        tx.executemany(f"DELETE FROM {table} WHERE seq = ?", seqs)  # noqa: S608
    return len(rows)

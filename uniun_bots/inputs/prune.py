"""Decisions are kept for 90 days, and never less than the longest max_age of a Gana."""

from __future__ import annotations

import sqlite3

KEEP_S = 90 * 86_400.0
BATCH = 2000


def prune_decided(tx: sqlite3.Connection, now: float, longest_max_age_s: float) -> int:
    """Drop old decisions whose note a cursor has passed; up to BATCH of each kind."""
    gone = 0
    for table, key in (("answered", "key"), ("held", "note_id")):
        gone += tx.execute(
            f"DELETE FROM {table} WHERE (gana, {key}) IN (SELECT d.gana, d.{key} FROM {table} d"  # noqa: S608
            f" LEFT JOIN notes n ON n.id = d.{key} WHERE d.at < ?"
            " AND NOT EXISTS (SELECT 1 FROM surfaces s JOIN cursors c ON c.surface = s.surface"
            "  AND c.gana = d.gana WHERE s.seq = n.seq AND c.seq <= n.seq) LIMIT ?)",
            (now - max(KEEP_S, longest_max_age_s), BATCH),
        ).rowcount
    return gone

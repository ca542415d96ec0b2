"""Which notes may be named in what we publish."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection


def citable(tx: sqlite3.Connection, note_ids: Collection[str], audience: str | None) -> set[str]:
    """Signed and not deleted; private ones inside of their own conversation only (`audience`, None in public).

    Local drafts have no event behind them, so nobody could open what the tag names.
    """
    marks = ",".join("?" * len(note_ids))
    rows = tx.execute(
        f"SELECT id FROM notes WHERE id IN ({marks}) AND deleted = 0 AND origin != 'draft'"  # noqa: S608
        " AND ((audience IS NULL AND raw IS NOT NULL) OR audience = ?)",
        (*note_ids, audience),
    )
    return {row[0] for row in rows}

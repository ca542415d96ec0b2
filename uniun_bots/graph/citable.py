"""Which notes may be named in what we publish."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection

from uniun_bots.graph.scope import in_conversation


def citable(tx: sqlite3.Connection, note_ids: Collection[str], audience: str | None) -> set[str]:
    """Signed and not deleted; private ones inside of their own conversation only (`audience`, None in public).

    Local drafts have no event behind them, so nobody could open what the tag names.
    """
    marks = ",".join("?" * len(note_ids))
    test, given = in_conversation(audience)
    rows = tx.execute(
        f"SELECT n.id FROM notes n WHERE n.id IN ({marks}) AND n.deleted = 0 AND n.origin != 'draft'"  # noqa: S608
        f" AND {test} AND (n.raw IS NOT NULL OR n.audience IS NOT NULL)",
        (*note_ids, *given),
    )
    return {row[0] for row in rows}

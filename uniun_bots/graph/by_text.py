"""Notes of a scope that share words with a text, the best first (bm25)."""

from __future__ import annotations

import re
import sqlite3

from uniun_bots.graph.find import COLUMNS, as_note
from uniun_bots.graph.note import Note
from uniun_bots.graph.scope import Scope, where
from uniun_bots.graph.words import words

MOST_WORDS = 32


def by_text(tx: sqlite3.Connection, text: str, scope: Scope, limit: int) -> list[Note]:
    found = dict.fromkeys(re.findall(r"\w+", words(text).casefold()))
    asked = " OR ".join(f'"{word}"' for word in list(found)[:MOST_WORDS])
    if not asked:
        return []
    condition, given = where(scope)
    rows = tx.execute(
        f"SELECT {COLUMNS} FROM notes_text f CROSS JOIN notes n ON n.seq = f.rowid"  # noqa: S608
        f" WHERE f.notes_text MATCH ? AND {condition} ORDER BY f.rank LIMIT ?",
        (asked, *given, limit),
    )
    return [as_note(row) for row in rows]

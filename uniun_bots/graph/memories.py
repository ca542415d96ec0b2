"""Memories: short summaries of long notes.

A memory belongs to its note: it is read in the note's scope and goes when the note is deleted, emptied or rewritten
(a trigger beside the tables).
"""

from __future__ import annotations

import re
import sqlite3
from dataclasses import dataclass

from uniun_bots.graph.note import Note
from uniun_bots.graph.scope import Scope, where
from uniun_bots.graph.words import asked_words

MOST_RANKED = 2000
"""The newest memories of a scope that a question is compared with."""

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Memory:
    text: str
    note_id: str
    """The note that it is a summary of."""
    author: str
    created_at: int
    """Of the note."""
    model: str


def memories(tx: sqlite3.Connection, scope: Scope, limit: int = 20, about: str = "") -> list[Memory]:
    """The newest notes' first; with `about`, those that share most of its words, and only these."""
    condition, given = where(scope)
    rows = tx.execute(
        "SELECT m.text, n.id, n.author, n.created_at, m.model"  # noqa: S608
        f" FROM memories m CROSS JOIN notes n ON n.seq = m.seq WHERE {condition} ORDER BY m.seq DESC LIMIT ?",
        (*given, MOST_RANKED if about else limit),
    )
    found = [Memory(*row) for row in rows]
    if not about:
        return found
    asked = content_words(about)
    ranked = sorted(((len(asked & content_words(one.text)), one) for one in found), key=lambda two: -two[0])
    return [one for shared, one in ranked if shared][:limit]


def content_words(text: str) -> set[str]:
    """Words of three letters and more by their beginnings, so that `tide` meets `tides`; and all of other scripts."""
    found = _WORD.findall(asked_words(text).casefold())
    return {word[:5] for word in found if len(word) > 2 or not word.isascii()}


def remember(tx: sqlite3.Connection, note: Note, text: str, model: str, now: float) -> bool:
    """False when the note was deleted or rewritten while the model read it: then nothing is kept."""
    row = tx.execute("SELECT text FROM notes WHERE seq = ? AND deleted = 0", (note.seq,)).fetchone()
    if row is None or row["text"] != note.text:
        return False
    tx.execute("DELETE FROM extractions WHERE seq = ?", (note.seq,))
    tx.execute("INSERT OR REPLACE INTO memories VALUES (?, ?, ?, ?)", (note.seq, text, model, now))
    return True

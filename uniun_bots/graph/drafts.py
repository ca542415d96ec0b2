"""Drafts: local markdown files as notes. They have no author, no signed bytes, and are never shown to relays."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass

from uniun_bots.graph.edges import MOST_EDGES, linked_in
from uniun_bots.graph.manas import Rule, join_manas
from uniun_bots.graph.versions import LONG_FORM
from uniun_bots.graph.words import words
from uniun_bots.nostr.text import clean
from uniun_bots.personas.draft_file import DraftFile, draft_id


@dataclass(frozen=True, slots=True)
class Changes:
    new: int = 0
    changed: int = 0
    gone: int = 0

    def __bool__(self) -> bool:
        return bool(self.new or self.changed or self.gone)


def sync_drafts(tx: sqlite3.Connection, drafts: Iterable[DraftFile], at: float) -> Changes:
    """Make the notes of origin `draft` those of these files; a file that did not change costs a look-up."""
    here = {row["path"]: row["digest"] for row in tx.execute("SELECT path, digest FROM drafts")}
    found = {draft.path: draft for draft in drafts}
    gone = here.keys() - found.keys()
    for path in gone:
        _forget(tx, path)
    new = changed = 0
    for path, draft in found.items():
        if here.get(path) == draft.digest:
            continue
        if path in here:
            _forget(tx, path)
            changed += 1
        else:
            new += 1
        _keep(tx, draft, at)
    return Changes(new, changed, len(gone))


def _keep(tx: sqlite3.Connection, draft: DraftFile, at: float) -> None:
    """A changed file comes with a new seq, so that whatever was computed from its old text is not taken for it."""
    text, note_id = clean(draft.text), draft_id(draft.path)
    row = tx.execute(
        "INSERT INTO notes (id, author, kind, created_at, text, origin, heard_at)"
        " VALUES (?, '', ?, ?, ?, 'draft', ?) RETURNING seq",
        (note_id, LONG_FORM, draft.created_at, text, at),
    ).fetchone()
    seq = int(row[0])
    links = linked_in(text)[:MOST_EDGES]
    tx.executemany(
        "INSERT INTO edges (seq, kind, target) VALUES (?, 'mention', ?)", [(seq, link) for link in links]
    )
    tx.executemany("INSERT INTO topics (topic, seq) VALUES (?, ?)", [(topic, seq) for topic in draft.topics])
    tx.execute("INSERT INTO notes_text (rowid, words) VALUES (?, ?)", (seq, words(text)))
    facts = [Rule("note", note_id), *(Rule("topic", topic) for topic in draft.topics)]
    join_manas(tx, [(seq, facts)])
    tx.execute("INSERT INTO drafts (path, id, digest) VALUES (?, ?, ?)", (draft.path, note_id, draft.digest))


def _forget(tx: sqlite3.Connection, path: str) -> None:
    """No cursor ever waits for a draft, so it leaves no tombstone."""
    tx.execute("DELETE FROM drafts WHERE path = ?", (path,))
    row = tx.execute("SELECT seq, text FROM notes WHERE id = ?", (draft_id(path),)).fetchone()
    if row is None:
        return
    seq = int(row["seq"])
    tx.execute(
        "INSERT INTO notes_text (notes_text, rowid, words) VALUES ('delete', ?, ?)", (seq, words(row["text"]))
    )
    for table in ("edges", "topics", "manas_notes"):
        tx.execute(f"DELETE FROM {table} WHERE seq = ?", (seq,))  # noqa: S608
    # Emptied first: what follows the text of notes by a trigger sees it go.
    tx.execute("UPDATE notes SET text = '', deleted = 1 WHERE seq = ?", (seq,))
    tx.execute("DELETE FROM notes WHERE seq = ?", (seq,))

"""The notes that may answer a question."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence

from uniun_bots.chat.conversation import Past
from uniun_bots.database.store import Store
from uniun_bots.graph.find import COLUMNS, as_note
from uniun_bots.graph.note import Note
from uniun_bots.graph.scope import Scope, where
from uniun_bots.skills.reach import Search

MOST_NOTES = 24
FIRST = 8
"""Of the question's own hits, those that go before what the last answer was from."""
QUERY_CHARS = 2000


async def look_up(store: Store, search: Search, question: str, scope: Scope, past: Past) -> list[Note]:
    """Best first. A question that goes on from the one before is also looked for together with that."""
    hits = list(await search(question[:QUERY_CHARS], scope, MOST_NOTES))
    if not past.messages:
        return hits
    before = await notes_of(store, past.last_cited(), scope)
    both = f"{past.last_question()}\n{question}"[:QUERY_CHARS]
    together = await search(both, scope, MOST_NOTES)
    return unique([*hits[:FIRST], *before, *together, *hits[FIRST:]])[:MOST_NOTES]


async def notes_of(store: Store, note_ids: Sequence[str], scope: Scope) -> list[Note]:
    """Those that are still there and in the scope, in the order of the ids."""
    condition, given = where(scope)

    def read(tx: sqlite3.Connection) -> dict[str, Note]:
        rows = tx.execute(
            f"SELECT {COLUMNS} FROM notes n WHERE n.id IN (SELECT value FROM json_each(?)) AND {condition}",  # noqa: S608
            (json.dumps(list(note_ids)), *given),
        )
        return {row["id"]: as_note(row) for row in rows}

    found = await store.read(read) if note_ids else {}
    return [found[note_id] for note_id in note_ids if note_id in found]


def unique(notes: Iterable[Note]) -> list[Note]:
    return list({note.id: note for note in notes}.values())

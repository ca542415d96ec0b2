"""The knowledge skills: everything they show lies in the scope of the run, or was shown to it before."""

from __future__ import annotations

import sqlite3

from uniun_bots.graph.expand import Linked, Tie, expand
from uniun_bots.graph.memories import memories
from uniun_bots.graph.note import Note
from uniun_bots.graph.scope import Scope
from uniun_bots.graph.thread import thread
from uniun_bots.nostr.text import cut
from uniun_bots.skills.arguments import About, OfNote, Query
from uniun_bots.skills.effect import Answer
from uniun_bots.skills.reach import Reach
from uniun_bots.skills.reading import named, never_shown
from uniun_bots.skills.shown_notes import (
    PREVIEW_CHARS,
    WHOLE_CHARS,
    Row,
    answer,
    fault,
    names_for,
    preview,
    spoken,
)

MOST_HITS = 5
MOST_LINKS = 8
MOST_MEMORIES = 5


async def search_notes(given: Query, reach: Reach) -> Answer:
    asked = {note.id for note in reach.turn.notes} if reach.turn else set()
    found = await reach.search(given.query, reach.scope, MOST_HITS + len(asked))
    # What is asked has the words of the question in it, and answers nothing.
    return answer(reach, [preview(note) for note in found if note.id not in asked][:MOST_HITS])


async def expand_graph(given: OfNote, reach: Reach) -> Answer:
    note_id = named(given.note, reach.handles)
    if note_id is None:
        return fault(never_shown(given.note))
    found = await reach.store.read(lambda tx: expand(tx, note_id, reach.scope, MOST_LINKS))
    return answer(reach, [_linked(one) for one in found])


def _linked(one: Linked) -> Row:
    row = preview(one.note)
    return Row(row.note_id, {"link": ", ".join(_in_words(tie) for tie in one.ties[:3])} | row.says)


_OUT = {
    "reply": "answered by it",
    "root": "the thread it is in",
    "mention": "mentioned by it",
    "quote": "quoted by it",
}
_IN = {"reply": "answers it", "root": "is in its thread", "mention": "mentions it", "quote": "quotes it"}


def _in_words(tie: Tie) -> str:
    if tie.kind == "topic":
        return f"topic {cut(tie.topic, 40)}"
    return (_OUT if tie.outgoing else _IN)[tie.kind]


async def get_memories(given: About, reach: Reach) -> Answer:
    about = given.about.strip()
    found = await reach.store.read(lambda tx: memories(tx, reach.scope, MOST_MEMORIES, about))
    return answer(reach, [Row(one.note_id, {"memory": cut(one.text, 2 * PREVIEW_CHARS)}) for one in found])


async def read_note(given: OfNote, reach: Reach) -> Answer:
    note_id = named(given.note, reach.handles)
    if note_id is None:
        return fault(never_shown(given.note))
    row = await reach.store.read(lambda tx: _whole(tx, note_id, reach))
    return answer(reach, [row]) if row else fault("there is no such note any more")


def _whole(tx: sqlite3.Connection, note_id: str, reach: Reach) -> Row | None:
    """What was shown may be read, be it of the scope or of the conversation; private notes stay where they are."""
    note: Note | None = thread(tx, note_id, Scope(audience=reach.scope.audience)).note
    return spoken(note, reach, names_for(tx, [note]), WHOLE_CHARS) if note else None

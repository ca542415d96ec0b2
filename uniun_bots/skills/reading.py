"""The input skills: what waits behind the turn, and the conversation around a note."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from itertools import islice

from uniun_bots.graph.find import note_by_id
from uniun_bots.graph.note import Note
from uniun_bots.graph.scope import Scope
from uniun_bots.graph.thread import thread
from uniun_bots.inputs.taken import Asked
from uniun_bots.inputs.waiting import behind
from uniun_bots.skills.arguments import OfThread, Page
from uniun_bots.skills.effect import Answer
from uniun_bots.skills.handles import Handles
from uniun_bots.skills.reach import Reach
from uniun_bots.skills.shown_notes import Row, answer, fault, names_for, spoken

PAGE_NOTES = 10
MOST_OF_A_THREAD = 30


async def read_input(given: Page, reach: Reach) -> Answer:
    rows, more = await reach.store.read(lambda tx: _page(tx, given.page, reach))
    return answer(reach, rows, more=more)


def _page(tx: sqlite3.Connection, page: int, reach: Reach) -> tuple[list[Row], bool]:
    if reach.hosted is None or reach.turn is None:
        return [], False
    asked = Asked(reach.hosted, reach.turn.surface, None, reach.now, reach.own)
    first = (page - 1) * PAGE_NOTES
    notes = list(islice(behind(tx, asked, reach.turn), first, first + PAGE_NOTES + 1))
    names = names_for(tx, notes)
    return [spoken(note, reach, names) for note in notes[:PAGE_NOTES]], len(notes) > PAGE_NOTES


async def read_thread(given: OfThread, reach: Reach) -> Answer:
    note_id = named(given.note, reach.handles) if given.note else _answered(reach)
    if note_id is None:
        told = (
            never_shown(given.note) if given.note else "give `note`: there is no conversation to answer here"
        )
        return fault(told)
    rows, left_out = await reach.store.read(lambda tx: _thread(tx, note_id, reach))
    return answer(reach, rows, left_out) if rows else fault("there is no such note any more")


def _thread(tx: sqlite3.Connection, note_id: str, reach: Reach) -> tuple[list[Row], int]:
    found = thread(tx, note_id, _scope_around(tx, note_id, reach))
    if found.note is None:
        return [], 0
    above, below = [*found.ancestors, found.note], list(found.children)
    # The root says what it is about; then what stands nearest to the note.
    notes = above[:1] + above[1:][-(MOST_OF_A_THREAD // 2) :]
    notes += below[: MOST_OF_A_THREAD - len(notes)]
    names = names_for(tx, notes)
    return [spoken(note, reach, names) for note in notes], len(above) + len(below) - len(notes)


def _scope_around(tx: sqlite3.Connection, note_id: str, reach: Reach) -> Scope:
    """Around what is answered: all that is said there. Elsewhere: what is known, and what is said on our surface."""
    note = note_by_id(tx, note_id)
    if note is not None and reach.turn is not None:
        if reach.turn.notes and _top(note) == _top(reach.turn.latest):
            return Scope(everything=True, audience=reach.scope.audience)
        return replace(reach.scope, surfaces=(*reach.scope.surfaces, reach.turn.surface))
    return reach.scope


def _top(note: Note) -> str:
    return note.root or note.id


def _answered(reach: Reach) -> str | None:
    return reach.turn.latest.id if reach.turn and reach.turn.notes else None


def named(handle: str, handles: Handles) -> str | None:
    """The note that a model means by `n3`, `[n3]` or `N3`; None when it was never shown one."""
    return handles.get(handle.strip(" []()`").lower())


def never_shown(handle: str | None) -> str:
    return (
        f"no note {(handle or '')[:20]!r} was shown to you: use a handle such as n1 from what you were given"
    )

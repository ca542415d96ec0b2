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
from uniun_bots.skills.desk import Desk
from uniun_bots.skills.effect import Answer
from uniun_bots.skills.handles import Handles
from uniun_bots.skills.shown_notes import Row, answer, fault, names_for, spoken

PAGE_NOTES = 10
MOST_OF_A_THREAD = 30


async def read_input(given: Page, desk: Desk) -> Answer:
    rows, more = await desk.store.read(lambda tx: _page(tx, given.page, desk))
    return answer(desk, rows, more=more)


def _page(tx: sqlite3.Connection, page: int, desk: Desk) -> tuple[list[Row], bool]:
    if desk.hosted is None or desk.turn is None:
        return [], False
    asked = Asked(desk.hosted, desk.turn.surface, None, desk.now, desk.own)
    first = (page - 1) * PAGE_NOTES
    notes = list(islice(behind(tx, asked, desk.turn), first, first + PAGE_NOTES + 1))
    names = names_for(tx, notes)
    return [spoken(note, desk, names) for note in notes[:PAGE_NOTES]], len(notes) > PAGE_NOTES


async def read_thread(given: OfThread, desk: Desk) -> Answer:
    note_id = named(given.note, desk.handles) if given.note else _answered(desk)
    if note_id is None:
        told = (
            never_shown(given.note) if given.note else "give `note`: there is no conversation to answer here"
        )
        return fault(told)
    rows, left_out = await desk.store.read(lambda tx: _thread(tx, note_id, desk))
    return answer(desk, rows, left_out) if rows else fault("there is no such note any more")


def _thread(tx: sqlite3.Connection, note_id: str, desk: Desk) -> tuple[list[Row], int]:
    found = thread(tx, note_id, _scope_around(tx, note_id, desk))
    if found.note is None:
        return [], 0
    above, below = [*found.ancestors, found.note], list(found.children)
    # The root says what it is about; then what stands nearest to the note.
    notes = above[:1] + above[1:][-(MOST_OF_A_THREAD // 2) :]
    notes += below[: MOST_OF_A_THREAD - len(notes)]
    names = names_for(tx, notes)
    return [spoken(note, desk, names) for note in notes], len(above) + len(below) - len(notes)


def _scope_around(tx: sqlite3.Connection, note_id: str, desk: Desk) -> Scope:
    """Around what is answered: all that is said there. Elsewhere: what is known, and what is said on our surface."""
    note = note_by_id(tx, note_id)
    if note is not None and desk.turn is not None:
        if desk.turn.notes and _top(note) == _top(desk.turn.latest):
            return Scope(everything=True, audience=desk.scope.audience)
        return replace(desk.scope, surfaces=(*desk.scope.surfaces, desk.turn.surface))
    return desk.scope


def _top(note: Note) -> str:
    return note.root or note.id


def _answered(desk: Desk) -> str | None:
    return desk.turn.latest.id if desk.turn and desk.turn.notes else None


def named(handle: str, handles: Handles) -> str | None:
    """The note that a model means by `n3`, `[n3]` or `N3`; None when it was never shown one."""
    return handles.get(handle.strip(" []()`").lower())


def never_shown(handle: str | None) -> str:
    return (
        f"no note {(handle or '')[:20]!r} was shown to you: use a handle such as n1 from what you were given"
    )

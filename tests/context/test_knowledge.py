from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from tests.factory import ALICE, BOB, NOW, event, gana, heard, hosted, message, profile
from tests.stores import store as store
from tests.stores import tx as tx
from uniun_bots.context.gather import look_around
from uniun_bots.context.knowledge import LATELY, MOST_NOTES, look_up_knowledge, newest, scope_of_turn
from uniun_bots.database.store import Store
from uniun_bots.graph.find import note_by_id
from uniun_bots.graph.keep import keep
from uniun_bots.graph.note import Note
from uniun_bots.graph.scope import Scope
from uniun_bots.graph.search import search
from uniun_bots.inputs.turn import Turn
from uniun_bots.nostr.event import Event

LESSONS = Scope(manas=("lessons",))


def learn(tx: sqlite3.Connection, *events: Event, manas: str = "lessons") -> None:
    keep(tx, heard(*events))
    for one in events:
        tx.execute("INSERT INTO manas_notes SELECT ?, seq FROM notes WHERE id = ?", (manas, one.id))


def turn_of(tx: sqlite3.Connection, *asked: Event, surface: str = "group:1") -> Turn:
    keep(tx, heard(*asked))
    notes = [note_by_id(tx, one.id) for one in asked]
    return Turn("tide", surface, tuple(note for note in notes if note), None if asked else NOW, 1)


async def shown(store: Store, turn: Turn, scope: Scope = LESSONS) -> list[str]:
    async def rank(query: str, scope: Scope, limit: int) -> Sequence[Note]:
        return [hit.note for hit in await search(store, None, query, scope, limit)]

    return [note.text for note in (await look_up_knowledge(store, turn, scope, rank)).notes]


async def test_what_fits_the_input_comes_first_and_the_newest_behind_it(store: Store) -> None:
    await store.write(
        lambda tx: learn(
            tx,
            event("high water is late", at=NOW - 50),
            event("bread gets old", at=NOW - 90),
            event("boats look new", at=NOW - 10),
        )
    )
    await store.write(lambda tx: learn(tx, event("the water of others"), manas="theirs"))
    asked = await store.write(lambda tx: turn_of(tx, message("When is high water?")))
    assert await shown(store, asked) == ["high water is late", "boats look new", "bread gets old"]


async def test_without_an_input_the_newest_come_first(store: Store) -> None:
    """By date, not by arrival: an archive is imported in any order."""
    await store.write(
        lambda tx: learn(tx, *[event(f"n{age}", at=NOW - age) for age in (5, 1, 9, 3)]),
    )
    await store.write(lambda tx: learn(tx, event("n2", at=NOW - 2), manas="more"))
    asked = await store.write(turn_of)
    assert await shown(store, asked) == ["n1", "n3", "n5", "n9"]
    assert await shown(store, asked, Scope(manas=("lessons", "more"))) == ["n1", "n2", "n3", "n5", "n9"]


async def test_never_more_notes_are_weighed_than_a_prompt_has_room_for(store: Store) -> None:
    await store.write(lambda tx: learn(tx, *[event(f"water {n}", at=NOW - n) for n in range(60)]))
    asked = await store.write(lambda tx: turn_of(tx, message("water")))
    found = await shown(store, asked)
    assert len(found) == len(set(found)) == MOST_NOTES


async def test_authors_are_called_by_their_names(store: Store) -> None:
    await store.write(lambda tx: learn(tx, event("tides", author=BOB)))
    await store.write(lambda tx: keep(tx, heard(profile(BOB, name="Bob"))))
    asked = await store.write(turn_of)

    async def rank(query: str, scope: Scope, limit: int) -> Sequence[Note]:
        raise AssertionError("nothing is asked")

    assert (await look_up_knowledge(store, asked, LESSONS, rank)).names == {BOB: "Bob"}


def test_of_a_large_manas_the_latest_arrivals_are_looked_at(tx: sqlite3.Connection) -> None:
    learn(tx, event("first to come", at=NOW + 9), *[event(f"n{n}", at=NOW - n) for n in range(LATELY)])
    assert [note.text for note in newest(tx, LESSONS, 2)] == ["n0", "n1"]


def test_a_gana_without_a_manas_is_shown_nothing(tx: sqlite3.Connection) -> None:
    turn = turn_of(tx, message("When?"))
    assert scope_of_turn(hosted(), turn) is None
    assert scope_of_turn(hosted(gana(manas=["lessons"]).model_copy(update={"agentic": True})), turn) is None
    around, _ = look_around(tx, turn, ALICE, None)
    assert not around.knows


def test_whether_a_manas_holds_anything_is_known_from_the_look_around(tx: sqlite3.Connection) -> None:
    """So that an empty one costs no search."""
    turn = turn_of(tx, message("When?"))
    assert not look_around(tx, turn, ALICE, LESSONS)[0].knows
    learn(tx, event("tides"))
    assert look_around(tx, turn, ALICE, LESSONS)[0].knows


def test_private_notes_come_along_in_their_own_conversation_only() -> None:
    learned = hosted(gana(manas=["lessons"]))
    for surface, audience in (
        ("group:1", None),
        ("mentions:1", None),
        ("dm:me:you", "dm:me:you"),
        ("private-group:g", "private-group:g"),
    ):
        scope = scope_of_turn(learned, Turn("tide", surface, (), NOW, 1))
        assert scope == Scope(manas=("lessons",), audience=audience)

from __future__ import annotations

import sqlite3

from tests.factory import ALICE, BOB, NOW, event, heard, hex_of, profile
from tests.stores import tx as tx
from uniun_bots.graph.keep import keep
from uniun_bots.graph.picture import picture
from uniun_bots.graph.scope import Scope
from uniun_bots.nostr.event import Event

ALL = Scope(everything=True)


def answer(to: Event, text: str, *tags: tuple[str, ...], author: str = BOB) -> Event:
    return event(text, ("e", to.id, "", "reply"), *tags, author=author)


def test_a_picture_holds_notes_edges_by_kind_and_topics(tx: sqlite3.Connection) -> None:
    root = event("root", ("t", "tides"))
    reply = answer(root, "reply", ("t", "tides"), ("t", "alone"))
    quote = event("quote", ("q", reply.id), ("q", hex_of("never heard of")))
    keep(tx, heard(root, reply, quote, profile(BOB, name="Bob")))
    found = picture(tx, ALL, 10)
    assert [note.text for note in found.notes] == ["quote", "reply", "root"]
    assert sorted(found.edges) == [(0, 1, "quote"), (1, 2, "reply")]
    assert found.topics == (("alone", (1,)), ("tides", (2, 1)))
    assert found.names == {BOB: "Bob"}
    assert found.left_out == 0


def test_the_newest_arrivals_of_the_scope_are_taken_and_the_others_counted(tx: sqlite3.Connection) -> None:
    keep(tx, heard(*[event(f"n{n}", author=(ALICE, BOB)[n % 2], at=NOW - n) for n in range(10)]))
    found = picture(tx, Scope(authors=(BOB,)), 3)
    assert [note.text for note in found.notes] == ["n9", "n7", "n5"]
    assert found.left_out == 2


def test_around_a_note_stands_what_is_tied_to_it_and_the_rest_of_the_graph_does_not(
    tx: sqlite3.Connection,
) -> None:
    chain = [event("n0")]
    for number in range(1, 6):
        chain.append(answer(chain[-1], f"n{number}"))
    keep(tx, heard(*chain, event("elsewhere")))
    assert [note.text for note in picture(tx, ALL, 3, chain[2].id).notes][0] == "n2"
    assert {note.text for note in picture(tx, ALL, 3, chain[2].id).notes} == {"n1", "n2", "n3"}
    assert len(picture(tx, ALL, 100, chain[2].id).notes) == 6
    assert picture(tx, ALL, 100, hex_of("unknown")).notes == ()


def test_deleted_and_private_notes_are_in_no_picture(tx: sqlite3.Connection) -> None:
    root = event("root")
    gone, private = answer(root, "gone"), answer(root, "private")
    keep(tx, heard(root, gone, private))
    tx.execute("UPDATE notes SET deleted = 1 WHERE id = ?", (gone.id,))
    tx.execute("UPDATE notes SET audience = 'dm:a' WHERE id = ?", (private.id,))
    for around in (None, root.id):
        found = picture(tx, ALL, 10, around)
        assert [note.text for note in found.notes] == ["root"]
        assert found.edges == ()
    assert picture(tx, ALL, 10, private.id).notes == ()

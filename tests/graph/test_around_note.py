from __future__ import annotations

import sqlite3

from tests.factory import ALICE, BOB, NOW, RELAY, event, heard, hex_of, profile
from tests.stores import tx as tx
from uniun_bots.graph.around_note import Neighbour, around_note
from uniun_bots.graph.keep import keep
from uniun_bots.graph.picture import picture
from uniun_bots.graph.scope import Scope


def test_everything_known_about_a_note_is_told(tx: sqlite3.Connection) -> None:
    root, unknown = event("the root\nof it"), hex_of("unknown")
    note = event(
        "middle", ("e", root.id, "", "reply"), ("q", unknown), ("p", ALICE), ("t", "Tides"), author=BOB
    )
    naming = event("names it", ("q", note.id))
    keep(tx, heard(root, note, naming, profile(BOB, name="Bob")))
    tx.execute("INSERT INTO manas_notes SELECT 'lessons', seq FROM notes WHERE id = ?", (note.id,))
    found = around_note(tx, note.id)
    assert found is not None
    assert (found.note.text, found.author_name, found.audience) == ("middle", "Bob", None)
    assert found.names == (
        Neighbour("quote", unknown, None),
        Neighbour("reply", root.id, "the root of it"),
        Neighbour("root", root.id, "the root of it"),
    )
    assert found.named_by == (Neighbour("quote", naming.id, "names it"),)
    assert found.topics == ("tides",)
    assert {f"mentions:{ALICE}", f"user:{BOB}"} <= set(found.surfaces)
    assert found.manas == ("lessons",)
    assert (found.memory, found.no_memory) == (None, "")
    assert found.heard == ((RELAY, NOW),)


def test_a_private_note_says_whose_it_is_and_an_unknown_one_is_none(tx: sqlite3.Connection) -> None:
    note = event("to you")
    keep(tx, heard(note))
    tx.execute("UPDATE notes SET audience = 'dm:a' WHERE id = ?", (note.id,))
    found = around_note(tx, note.id)
    assert found is not None
    assert found.audience == "dm:a"
    assert around_note(tx, hex_of("unknown")) is None


def test_a_long_form_note_is_named_by_its_address(tx: sqlite3.Connection) -> None:
    article = event("An article", ("d", "tides"), author=BOB, kind=30023)
    naming = event("names it", ("a", f"30023:{BOB}:tides"), ("a", f"30023:{BOB}:unknown"))
    keep(tx, heard(naming, article))
    named, naming_it = around_note(tx, naming.id), around_note(tx, article.id)
    assert named is not None
    assert naming_it is not None
    assert [(one.note, one.preview) for one in named.names] == [
        (article.id, "An article"),
        (f"30023:{BOB}:unknown", None),
    ]
    assert [one.note for one in naming_it.named_by] == [naming.id]
    assert [edge[2] for edge in picture(tx, Scope(everything=True), 10).edges] == ["mention"]

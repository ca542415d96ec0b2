from __future__ import annotations

import sqlite3

import pytest

from tests.factory import ALICE, BOB, NOW, deletion, event, heard
from tests.graph.long_notes import BREAD, OF_BREAD, OF_TIDES, TIDES, kept
from tests.stores import tx as tx
from uniun_bots.graph.keep import keep, mark_deleted
from uniun_bots.graph.memories import memories, remember
from uniun_bots.graph.note import Note
from uniun_bots.graph.retention import prune_notes
from uniun_bots.graph.scope import Scope

ALL = Scope(everything=True)


@pytest.fixture
def tides(tx: sqlite3.Connection) -> Note:
    note = kept(tx, TIDES)
    assert remember(tx, note, OF_TIDES, "scripted", NOW)
    return note


def texts(tx: sqlite3.Connection, scope: Scope = ALL, about: str = "") -> list[str]:
    return [one.text for one in memories(tx, scope, about=about)]


def test_a_memory_tells_the_note_that_it_is_from(tx: sqlite3.Connection, tides: Note) -> None:
    (found,) = memories(tx, ALL)
    assert (found.text, found.note_id, found.author, found.model) == (OF_TIDES, tides.id, ALICE, "scripted")


def test_the_newest_come_first_and_a_question_picks_those_that_share_its_words(
    tx: sqlite3.Connection, tides: Note
) -> None:
    remember(tx, kept(tx, BREAD), OF_BREAD, "scripted", NOW)
    assert texts(tx) == [OF_BREAD, OF_TIDES]
    assert texts(tx, about="How long do doughs rest?") == [OF_BREAD]
    assert texts(tx, about="Is it high water every night?")[0] == OF_TIDES
    assert texts(tx, about="Bicycles?") == []
    assert len(memories(tx, ALL, limit=1)) == 1


def test_a_memory_is_read_in_the_scope_of_its_note(tx: sqlite3.Connection, tides: Note) -> None:
    assert texts(tx, Scope(authors=(ALICE,))) == [OF_TIDES]
    assert texts(tx, Scope(authors=(BOB,))) == []
    tx.execute("UPDATE notes SET audience = 'dm:a' WHERE seq = ?", (tides.seq,))
    assert texts(tx) == texts(tx, Scope(everything=True, audience="dm:b"), "water") == []
    assert texts(tx, Scope(everything=True, audience="dm:a")) == [OF_TIDES]


def test_a_deleted_note_takes_its_memory_along(tx: sqlite3.Connection, tides: Note) -> None:
    keep(tx, heard(deletion(event(TIDES))))
    assert tx.execute("SELECT count(*) FROM memories").fetchone()[0] == 0
    other = kept(tx, BREAD)
    remember(tx, other, OF_BREAD, "scripted", NOW)
    mark_deleted(tx, other.id)
    assert tx.execute("SELECT count(*) FROM memories").fetchone()[0] == 0


def test_a_note_that_retention_empties_takes_its_memory_along(tx: sqlite3.Connection, tides: Note) -> None:
    assert prune_notes(tx, NOW + 1) == 1
    assert tx.execute("SELECT count(*) FROM memories").fetchone()[0] == 0


def test_nothing_is_kept_of_a_note_that_changed_while_the_model_read_it(tx: sqlite3.Connection) -> None:
    note = kept(tx, TIDES)
    tx.execute("UPDATE notes SET text = ? WHERE seq = ?", (BREAD, note.seq))
    assert not remember(tx, note, OF_TIDES, "scripted", NOW)
    gone = kept(tx, BREAD + " ")
    mark_deleted(tx, gone.id)
    assert not remember(tx, gone, OF_BREAD, "scripted", NOW)
    assert texts(tx) == []


def test_a_second_memory_of_a_note_replaces_the_first(tx: sqlite3.Connection, tides: Note) -> None:
    remember(tx, tides, "High water is later every day.", "scripted", NOW)
    assert texts(tx) == ["High water is later every day."]

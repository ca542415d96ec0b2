from __future__ import annotations

import sqlite3

import pytest

from tests.factory import ALICE, BOB, CAROL, CHANNEL, NOW, event, heard, hex_of, message
from tests.stores import count
from uniun_bots.graph.find import note_by_id
from uniun_bots.graph.keep import keep
from uniun_bots.graph.manas import Rule, forget_manas, manas_names, manas_of, set_manas
from uniun_bots.nostr.event import Event

BY_BOB = event("by bob", author=BOB)
ON_TIDES = event("on tides", ["t", "Tide"])
IN_GROUP = message("in the group", author=CAROL)
NAMED = event("named")
ALL = [BY_BOB, ON_TIDES, IN_GROUP, NAMED]
RULES = {
    "by bob": Rule("author", BOB),
    "on tides": Rule("topic", "tide"),
    "in the group": Rule("group", CHANNEL),
    "named": Rule("note", NAMED.id),
}


def members(tx: sqlite3.Connection, name: str = "harbour") -> set[str]:
    rows = tx.execute("SELECT n.text FROM manas_notes m JOIN notes n USING (seq) WHERE m.manas = ?", (name,))
    return {row[0] for row in rows}


def seq_of(tx: sqlite3.Connection, kept: Event) -> int:
    note = note_by_id(tx, kept.id)
    assert note is not None
    return note.seq


@pytest.mark.parametrize("text", RULES)
@pytest.mark.parametrize("later", [False, True])
def test_each_rule_finds_notes_that_are_there_and_notes_that_come_later(
    tx: sqlite3.Connection, text: str, later: bool
) -> None:
    if not later:
        keep(tx, heard(*ALL))
    set_manas(tx, "harbour", "", [RULES[text]])
    keep(tx, heard(*ALL))
    assert members(tx) == {text}


@pytest.mark.parametrize("later", [False, True])
def test_an_exclusion_wins_over_whatever_names_the_note(tx: sqlite3.Connection, later: bool) -> None:
    if not later:
        keep(tx, heard(*ALL))
    set_manas(tx, "harbour", "", RULES.values(), [Rule("author", CAROL), RULES["named"]])
    keep(tx, heard(*ALL))
    assert members(tx) == {"by bob", "on tides"}


def test_a_note_may_be_in_many(tx: sqlite3.Connection) -> None:
    set_manas(tx, "tides", "", [Rule("topic", "tide")])
    set_manas(tx, "alice", "", [Rule("author", ALICE)])
    keep(tx, heard(ON_TIDES))
    assert manas_of(tx, seq_of(tx, ON_TIDES)) == ["alice", "tides"]
    assert count(tx, "notes") == 1


def test_a_rule_that_goes_takes_its_notes_along_and_no_others(tx: sqlite3.Connection) -> None:
    set_manas(tx, "harbour", "", [Rule("author", ALICE), Rule("topic", "tide"), Rule("author", BOB)])
    keep(tx, heard(*ALL))
    assert set_manas(tx, "harbour", "", [Rule("topic", "tide"), Rule("author", BOB)])
    assert members(tx) == {"on tides", "by bob"}


def test_an_exclusion_that_goes_lets_its_notes_in_again(tx: sqlite3.Connection) -> None:
    keep(tx, heard(*ALL))
    set_manas(tx, "harbour", "", [Rule("author", BOB)], [RULES["by bob"], Rule("note", BY_BOB.id)])
    assert members(tx) == set()
    set_manas(tx, "harbour", "", [Rule("author", BOB)])
    assert members(tx) == {"by bob"}


def test_an_added_rule_lets_nothing_excluded_in(tx: sqlite3.Connection) -> None:
    keep(tx, heard(*ALL))
    set_manas(tx, "harbour", "", [Rule("author", ALICE)], [Rule("note", NAMED.id)])
    set_manas(tx, "harbour", "", [Rule("author", ALICE), Rule("author", BOB)], [Rule("note", NAMED.id)])
    assert members(tx) == {"on tides", "by bob"}


def test_the_same_file_again_changes_nothing(tx: sqlite3.Connection) -> None:
    set_manas(tx, "harbour", "boats", [Rule("author", BOB)], [Rule("note", hex_of("x"))])
    assert not set_manas(tx, "harbour", "ships", [Rule("author", BOB)], [Rule("note", hex_of("x"))])
    assert tx.execute("SELECT description FROM manas").fetchone()[0] == "ships"


def test_a_manas_whose_file_is_gone_leaves_its_notes(tx: sqlite3.Connection) -> None:
    set_manas(tx, "harbour", "", [Rule("author", BOB)])
    set_manas(tx, "lessons", "", [Rule("author", BOB)])
    keep(tx, heard(*ALL))
    forget_manas(tx, ["lessons"])
    assert manas_names(tx) == ["lessons"]
    assert (members(tx), members(tx, "lessons")) == (set(), {"by bob"})
    keep(tx, heard(event("later", author=BOB, at=NOW + 1)))
    assert (members(tx), members(tx, "lessons")) == (set(), {"by bob", "later"})
    assert note_by_id(tx, BY_BOB.id)

"""What of a question is asked of full text, when some of its words are everywhere."""

from __future__ import annotations

import sqlite3

import pytest

from tests.factory import ALICE, BOB, NOW, event, heard
from tests.graph.library import EVERYTHING
from tests.stores import tx as tx
from uniun_bots.graph import by_words as room
from uniun_bots.graph.by_words import by_words
from uniun_bots.graph.keep import keep
from uniun_bots.graph.scope import Scope, few_of


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "MOST_RANKED", 6)


def learn(tx: sqlite3.Connection, *texts: str, author: str = ALICE) -> None:
    keep(tx, heard(*(event(text, author=author, at=NOW + place) for place, text in enumerate(texts))))


def found(
    tx: sqlite3.Connection, question: str, scope: Scope = EVERYTHING, limit: int = 5, few: int = 0
) -> list[str]:
    """`few`: what size of a scope is read whole first."""
    seqs = by_words(tx, question, scope, limit, few_of(tx, scope, few))
    return [tx.execute("SELECT text FROM notes WHERE seq = ?", (seq,)).fetchone()[0] for seq in seqs]


def test_a_common_word_is_dropped_beside_a_rarer_one(tx: sqlite3.Connection) -> None:
    learn(tx, *(f"the tide of day {n}" for n in range(20)), "a barnacle on the hull", "the end")
    assert found(tx, "the barnacle") == ["a barnacle on the hull"]


def test_a_word_that_stands_everywhere_finds_the_newest(tx: sqlite3.Connection) -> None:
    learn(tx, *(f"the tide of day {n}" for n in range(20)))
    assert found(tx, "tide", limit=2) == ["the tide of day 19", "the tide of day 18"]


def test_words_that_are_common_alone_are_looked_for_together(tx: sqlite3.Connection) -> None:
    ferries = [f"ferry number {n}" for n in range(10)]
    learn(tx, *ferries, *(f"harbour number {n}" for n in range(10)), "the ferry in the harbour")
    assert found(tx, "ferry harbour")[0] == "the ferry in the harbour"


def test_no_more_is_ranked_than_was_set_the_rarest_words_first(tx: sqlite3.Connection) -> None:
    learn(tx, "one barnacle", *(f"hull {n}" for n in range(4)), *(f"mast {n}" for n in range(4)))
    assert set(found(tx, "mast hull barnacle", limit=9)) == {
        "one barnacle",
        *(f"hull {n}" for n in range(4)),
    } or (set(found(tx, "mast hull barnacle", limit=9)) == {"one barnacle", *(f"mast {n}" for n in range(4))})


@pytest.mark.parametrize("few", [0, 100], ids=["asked one by one", "read whole"])
def test_the_newest_are_looked_for_within_the_scope(tx: sqlite3.Connection, few: int) -> None:
    learn(tx, "an old tide", "an old tide, told again", author=BOB)
    learn(tx, *(f"the tide of day {n}" for n in range(20)))
    assert found(tx, "tide", Scope(authors=(BOB,)), limit=1, few=few) == ["an old tide, told again"]


@pytest.mark.parametrize("few", [0, 100], ids=["asked one by one", "read whole"])
def test_a_scope_behind_many_better_notes_is_reached(
    tx: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch, few: int
) -> None:
    monkeypatch.setattr(room, "MOST_RANKED", 100)
    learn(tx, *("tide " * 3 + str(n) for n in range(30)))
    learn(tx, "a long note in which the tide stands once and much else besides", author=BOB)
    assert len(found(tx, "tide", Scope(authors=(BOB,)), limit=2, few=few)) == 1

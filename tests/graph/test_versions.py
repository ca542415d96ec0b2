"""Long-form notes under an address: NIP-01 decides between versions, NIP-09 takes them out."""

from __future__ import annotations

import itertools
import sqlite3

import pytest

from tests.factory import ALICE, BOB, NOW, deletion, event, heard
from tests.stores import undone
from uniun_bots.graph.find import note_by_id
from uniun_bots.graph.keep import keep
from uniun_bots.graph.manas import Rule, set_manas
from uniun_bots.graph.scope import Scope, from_where
from uniun_bots.nostr.event import Event


def article(text: str, d: str = "tides", *, author: str = ALICE, at: int = NOW, title: str = "") -> Event:
    titled = [["title", title]] if title else []
    return event(text, ["d", d], *titled, author=author, kind=30023, at=at)


def address_deletion(address: str, at: int = NOW, author: str = ALICE) -> Event:
    return event("", ["a", address], author=author, kind=5, at=at)


ADDRESS = f"30023:{ALICE}:tides"


def readable(tx: sqlite3.Connection) -> set[str]:
    source, given = from_where(Scope(everything=True))
    return {row[0] for row in tx.execute(f"SELECT n.text {source}", given)}


def test_the_newest_version_counts_in_whatever_order_they_come(tx: sqlite3.Connection) -> None:
    versions = [article(f"v{n}", at=NOW + n) for n in range(3)]
    for order in itertools.permutations(versions):
        with undone(tx):
            for one in order:
                keep(tx, heard(one))
            assert readable(tx) == {"v2"}


def test_of_two_in_one_second_the_lower_id_counts(tx: sqlite3.Connection) -> None:
    """A44, A54"""
    versions = [article(f"v{n}") for n in range(4)]
    lowest = min(versions, key=lambda one: one.id)
    for order in itertools.permutations(versions):
        with undone(tx):
            keep(tx, heard(*order))
            assert readable(tx) == {lowest.content}


def test_other_addresses_and_other_authors_are_other_notes(tx: sqlite3.Connection) -> None:
    keep(tx, heard(article("a"), article("b", "moon"), article("c", author=BOB), article("d", "")))
    keep(tx, heard(event("a short note", ["d", "tides"]), event("another", ["d", "tides"], at=NOW + 1)))
    assert readable(tx) == {"a", "b", "c", "d", "a short note", "another"}


def test_a_replaced_version_stays_as_a_row_so_that_no_number_moves(tx: sqlite3.Connection) -> None:
    old, new = article("old"), article("new", at=NOW + 1)
    keep(tx, heard(old, new))
    kept = [note_by_id(tx, one.id) for one in (old, new)]
    assert [(note.seq, note.deleted) for note in kept if note] == [(1, True), (2, False)]


@pytest.mark.parametrize("first", [True, False], ids=["deletion first", "notes first"])
def test_a_deletion_by_address_takes_all_versions_up_to_its_second(
    tx: sqlite3.Connection, first: bool
) -> None:
    notes, gone = heard(article("v1"), article("v2", at=NOW + 1)), heard(address_deletion(ADDRESS, NOW + 1))
    for batch in (gone, notes) if first else (notes, gone):
        keep(tx, batch)
    assert readable(tx) == set()
    keep(tx, heard(article("v3", at=NOW + 2)))
    assert readable(tx) == {"v3"}, "written after the deletion"


def test_nobody_else_deletes_by_address(tx: sqlite3.Connection) -> None:
    keep(tx, heard(article("v1"), address_deletion(ADDRESS, author=BOB)))
    keep(tx, heard(address_deletion("nonsense"), address_deletion(f"30023:{ALICE}"), address_deletion("")))
    assert readable(tx) == {"v1"}


def test_an_older_deletion_does_not_undo_a_newer_one(tx: sqlite3.Connection) -> None:
    keep(tx, heard(address_deletion(ADDRESS, NOW + 5), address_deletion(ADDRESS, NOW)))
    keep(tx, heard(article("v1", at=NOW + 3)))
    assert readable(tx) == set()


def test_what_a_deleted_version_replaced_does_not_come_back(tx: sqlite3.Connection) -> None:
    new = article("new", at=NOW + 1)
    keep(tx, heard(new, deletion(new)))
    keep(tx, heard(article("old")))
    assert readable(tx) == set()


def test_a_deletion_tells_which_notes_it_took(tx: sqlite3.Connection) -> None:
    old, new = article("old"), article("new", at=NOW + 1)
    keep(tx, heard(old, new))
    assert set(keep(tx, heard(address_deletion(ADDRESS, NOW + 9))).deleted) == {old.id, new.id}
    assert keep(tx, heard(address_deletion(ADDRESS, NOW + 9))).deleted == ()


def test_a_title_stands_on_top_once(tx: sqlite3.Connection) -> None:
    keep(tx, heard(article("It rises.", title="The\nTide"), article("# Moon\nIt wanes.", "m", title="Moon")))
    assert readable(tx) == {"# The Tide\n\nIt rises.", "# Moon\nIt wanes."}


def test_a_manas_that_names_an_address_has_its_newest_version(tx: sqlite3.Connection) -> None:
    keep(tx, heard(article("old")))
    set_manas(tx, "harbour", "", [Rule("address", ADDRESS)])
    keep(tx, heard(article("new", at=NOW + 1), article("other", "moon")))
    source, given = from_where(Scope(manas=("harbour",)))
    assert [row[0] for row in tx.execute(f"SELECT n.text {source}", given)] == ["new"]

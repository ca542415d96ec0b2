from __future__ import annotations

import itertools
import sqlite3

import pytest

from tests.factory import ALICE, BOB, CAROL, NOW, heard, profile
from tests.stores import undone
from uniun_bots.graph.keep import keep
from uniun_bots.graph.profiles import FRESH_S, fresh_profiles, mark_checked, names_of


def test_the_newest_profile_stays_in_whatever_order_they_come(tx: sqlite3.Connection) -> None:
    versions = [profile(at=NOW + age, name=f"version {age}", bot=age == 2) for age in range(3)]
    for order in itertools.permutations(versions):
        with undone(tx):
            keep(tx, heard(*order))
            found = fresh_profiles(tx, [ALICE], NOW)[ALICE]
            assert (found.name, found.is_bot, found.created_at) == ("version 2", True, NOW + 2)


@pytest.mark.parametrize("turned", [False, True])
def test_of_two_profiles_of_one_second_the_lower_id_stays(tx: sqlite3.Connection, turned: bool) -> None:
    two = [profile(name="one"), profile(name="two")]
    keep(tx, heard(*(reversed(two) if turned else two)))
    lower = min(two, key=lambda event: event.id)
    assert f'"{names_of(tx, [ALICE])[ALICE]}"' in lower.content


def test_a_profile_that_says_nothing_usable_is_a_human_without_a_name(tx: sqlite3.Connection) -> None:
    keep(tx, heard(profile(name=5, bot="yes", about=["x"])))
    found = fresh_profiles(tx, [ALICE], NOW)[ALICE]
    assert (found.name, found.is_bot, found.about) == ("", False, "")
    assert names_of(tx, [ALICE, BOB]) == {}


def test_who_was_asked_for_is_not_asked_for_again_for_a_day(tx: sqlite3.Connection) -> None:
    keep(tx, heard(profile(ALICE, name="Alice"), at=NOW))
    mark_checked(tx, [BOB], NOW)
    people = [ALICE, BOB, CAROL]
    assert fresh_profiles(tx, people, NOW).keys() == {ALICE, BOB}
    assert fresh_profiles(tx, people, NOW + FRESH_S - 1).keys() == {ALICE, BOB}
    assert fresh_profiles(tx, people, NOW + FRESH_S).keys() == set()
    mark_checked(tx, people, NOW + FRESH_S)
    assert fresh_profiles(tx, people, NOW + FRESH_S)[ALICE].name == "Alice", "and what was known stays"


def test_a_profile_fills_the_place_of_one_that_was_not_found(tx: sqlite3.Connection) -> None:
    mark_checked(tx, [ALICE], NOW)
    assert not fresh_profiles(tx, [ALICE], NOW)[ALICE].is_bot
    keep(tx, heard(profile(bot=True, name="Tide bot", at=0)))
    assert fresh_profiles(tx, [ALICE], NOW)[ALICE].is_bot

from __future__ import annotations

import sqlite3

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.factory import ALICE, BOB, BOT, CHANNEL, GROUP, MENTIONS, NOW, SECOND_BOT, event, heard, message
from tests.stores import count, undone
from uniun_bots.graph.keep import keep, keep_note
from uniun_bots.nostr.event import Event
from uniun_bots.nostr.surfaces import surfaces_of
from uniun_bots.triggers import match as room
from uniun_bots.triggers.match import Key, Matched, match, settle, write_wakeups

OWN = (BOT, SECOND_BOT)
WATCHERS = {
    GROUP: ("harbour", "tide"),
    MENTIONS: ("harbour",),
    f"mentions:{SECOND_BOT}": ("tide",),
    f"user:{ALICE}": ("gull",),
}


def woken(tx: sqlite3.Connection, raised: set[Key] | None = None, now: float = NOW) -> Matched:
    matched = match(tx, WATCHERS, OWN)
    write_wakeups(tx, [key for key in matched.keys if key not in (raised or ())], matched.upto, now)
    return matched


def standing_wakeups(tx: sqlite3.Connection) -> list[Key]:
    return [(row["gana"], row["surface"]) for row in tx.execute("SELECT gana, surface FROM wakeups")]


def all_woken(tx: sqlite3.Connection) -> set[Key]:
    """Until nothing is left, as the wake loop does."""
    keys: set[Key] = set()
    more = True
    while more:
        matched = woken(tx)
        keys |= set(matched.keys)
        more = matched.more
    return keys


def test_a_note_wakes_those_who_watch_its_surface_and_nobody_else(tx: sqlite3.Connection) -> None:
    keep(tx, heard(message("hi", author=BOB)))
    assert set(woken(tx).keys) == {("harbour", GROUP), ("tide", GROUP)}


def test_a_note_on_two_surfaces_wakes_on_both(tx: sqlite3.Connection) -> None:
    keep(tx, heard(event("hi", ["p", BOT])))
    assert set(woken(tx).keys) == {("harbour", MENTIONS), ("gull", f"user:{ALICE}")}


def test_many_notes_wake_once(tx: sqlite3.Connection) -> None:
    keep(tx, heard(*(message(f"n{number}") for number in range(50))))
    assert woken(tx).keys == (("harbour", GROUP), ("tide", GROUP))
    assert count(tx, "wakeups") == 2


@pytest.mark.parametrize("author", OWN)
def test_no_hosted_identity_wakes_anybody(tx: sqlite3.Connection, author: str) -> None:
    """A21: neither the author itself nor another Gana of this host, from a relay or by our own close."""
    keep(tx, heard(message("from a relay", author=author), event("hi", ["p", BOT], author=author)))
    keep_note(tx, message("by close", author=author), "own", NOW)
    assert woken(tx).keys == ()


def test_what_we_sent_wakes_nobody_when_its_identity_is_no_longer_hosted(tx: sqlite3.Connection) -> None:
    keep_note(tx, message("at nine", author=BOB), "own", NOW)
    assert woken(tx).keys == ()


def test_an_own_note_among_others_does_not_hide_them(tx: sqlite3.Connection) -> None:
    keep(tx, heard(message("ours", author=BOT), message("theirs", author=BOB), message("ours 2", author=BOT)))
    assert set(woken(tx).keys) == {("harbour", GROUP), ("tide", GROUP)}


def test_notes_are_looked_at_once(tx: sqlite3.Connection) -> None:
    keep(tx, heard(message("hi")))
    first = woken(tx)
    assert woken(tx) == Matched((), first.upto, 0, False)


def test_the_mark_moves_with_a_unit_that_commits_and_stays_with_one_that_does_not(
    tx: sqlite3.Connection,
) -> None:
    keep(tx, heard(message("hi")))
    with undone(tx):
        first = woken(tx)
    assert woken(tx) == first, "nothing was lost"


def test_a_wakeup_that_stands_gets_no_second_row(tx: sqlite3.Connection) -> None:
    keep(tx, heard(message("one")))
    woken(tx)
    keep(tx, heard(message("two")))
    again = woken(tx, raised={("harbour", GROUP)}, now=NOW + 9)
    assert set(again.keys) == {("harbour", GROUP), ("tide", GROUP)}, "it is told, for the debounce"
    rows = tx.execute("SELECT gana, due, first_at FROM wakeups ORDER BY gana").fetchall()
    assert [tuple(row) for row in rows] == [("harbour", NOW, NOW), ("tide", NOW, NOW)]


@pytest.mark.parametrize("more", [True, False])
def test_a_row_stays_as_long_as_something_is_pending(tx: sqlite3.Connection, more: bool) -> None:
    keep(tx, heard(message("hi")))
    woken(tx)
    settle(tx, "harbour", GROUP, more=more)
    left = {("tide", GROUP)} | ({("harbour", GROUP)} if more else set())
    assert set(standing_wakeups(tx)) == left


senders = st.sampled_from([ALICE, BOB, *OWN])
events = st.one_of(
    st.builds(lambda text, author: message(text, author=author), st.sampled_from("abcdef"), senders),
    st.builds(
        lambda text, author, named: event(text, *[["p", one] for one in named], author=author),
        st.sampled_from("abcdef"),
        senders,
        st.lists(senders, max_size=2),
    ),
    st.builds(lambda author: event("elsewhere", ["e", "1" * 64], author=author, kind=42), senders),
    st.builds(lambda author: event("a channel", author=author, kind=40), senders),
)


def dumb_scan(batch: list[Event]) -> set[Key]:
    return {
        (gana, surface)
        for one in batch
        for surface, ganas in WATCHERS.items()
        for gana in ganas
        if surface in surfaces_of(one) and one.author not in OWN
    }


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(batches=st.lists(st.lists(events, max_size=8), max_size=5), most=st.integers(1, 10))
def test_exactly_the_watchers_of_new_notes_wake(
    tx: sqlite3.Connection, batches: list[list[Event]], most: int
) -> None:
    seen: set[str] = set()
    with undone(tx), pytest.MonkeyPatch.context() as patch:
        patch.setattr(room, "MOST_NOTES", most)
        for batch in batches:
            keep(tx, heard(*batch))
            assert all_woken(tx) == dumb_scan([one for one in batch if one.id not in seen])
            seen |= {one.id for one in batch}
        assert set(standing_wakeups(tx)) == dumb_scan([one for batch in batches for one in batch])


def test_the_channel_of_another_wakes_nobody(tx: sqlite3.Connection) -> None:
    keep(tx, heard(event("hi", ["e", CHANNEL, "", "mention"], ["e", "1" * 64, "", "root"], kind=42)))
    assert woken(tx).keys == ()

from __future__ import annotations

import sqlite3

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.factory import ALICE, BOB, BOT, CAROL, CHANNEL, NOW, event, heard, hex_of, message
from tests.stores import undone
from uniun_bots.graph.find import AHEAD_S, MOST_ANCESTORS, Ancestry, ancestry, have_for, known_ids, note_by_id
from uniun_bots.graph.keep import keep, keep_note
from uniun_bots.graph.note import Note
from uniun_bots.nostr.event import Event
from uniun_bots.nostr.filter import Filter
from uniun_bots.nostr.surfaces import filter_of

OTHER_CHANNEL = hex_of("another channel")


def note(tx: sqlite3.Connection, kept: Event) -> Note:
    found = note_by_id(tx, kept.id)
    assert found is not None
    return found


def above(tx: sqlite3.Connection, kept: Event) -> Ancestry:
    return ancestry(tx, note(tx, kept), None)


def chain(length: int) -> list[Event]:
    events = [message("n0")]
    while len(events) < length:
        events.append(message(f"n{len(events)}", answers=events[-1]))
    return events


def test_ancestry_goes_from_the_top_down_to_the_parent(tx: sqlite3.Connection) -> None:
    events = chain(4)
    keep(tx, heard(*events))
    found = above(tx, events[-1])
    assert [one.text for one in found.notes] == ["n0", "n1", "n2"]
    assert found.missing is None


def test_ancestry_tells_the_first_id_that_is_not_here(tx: sqlite3.Connection) -> None:
    events = chain(5)
    keep(tx, heard(*events[:1], *events[2:]))
    found = above(tx, events[-1])
    assert [one.text for one in found.notes] == ["n2", "n3"]
    assert found.missing == events[1].id


def test_a_private_note_is_an_ancestor_in_its_own_conversation_only(tx: sqlite3.Connection) -> None:
    """Whoever knows the id of a private note may answer it in public."""
    root = message("root")
    secret = message("a secret", answers=root)
    public = message("and what was that?", answers=secret)
    keep(tx, heard(root, secret, public))
    tx.execute("UPDATE notes SET audience = 'dm:one' WHERE id = ?", (secret.id,))
    for audience, texts in ((None, []), ("dm:two", []), ("dm:one", ["root", "a secret"])):
        found = ancestry(tx, note(tx, public), audience)
        assert ([one.text for one in found.notes], found.missing) == (texts, None)


def test_a_note_at_the_top_has_no_ancestry(tx: sqlite3.Connection) -> None:
    said = message("hi")
    keep(tx, heard(said))
    assert above(tx, said) == Ancestry((), None)


@pytest.mark.parametrize("length", [1, 2, 5])
def test_a_ring_of_answers_is_walked_once(tx: sqlite3.Connection, length: int) -> None:
    ids = [hex_of(f"ring {i}") for i in range(length)]
    for at, note_id in enumerate(ids):
        tx.execute(
            "INSERT INTO notes (id, author, kind, created_at, text, origin, heard_at, parent)"
            " VALUES (?, ?, 1, ?, '', 'relay', 0, ?)",
            (note_id, ALICE, NOW, ids[at - 1]),
        )
    first = note_by_id(tx, ids[0])
    assert first is not None
    found = ancestry(tx, first, None)
    assert [one.id for one in found.notes] == ids[1:]
    assert found.missing is None


def test_a_very_long_thread_is_read_up_to_a_bound(tx: sqlite3.Connection) -> None:
    events = chain(MOST_ANCESTORS + 10)
    keep(tx, heard(*events))
    found = above(tx, events[-1])
    assert len(found.notes) == MOST_ANCESTORS
    assert found.notes[-1].id == events[-2].id


def test_known_ids_are_those_of_kept_notes(tx: sqlite3.Connection) -> None:
    said, other = event("a"), event("b")
    keep(tx, heard(said))
    assert known_ids(tx, [said.id, other.id]) == {said.id}
    assert known_ids(tx, []) == set()


# what a relay need not send again ---------------------------------------------------------------------

people = st.sampled_from([ALICE, BOB, CAROL])
times = st.integers(NOW - 5, NOW + 5)
events = st.one_of(
    st.builds(
        lambda text, author, at, named: event(text, *[["p", one] for one in named], author=author, at=at),
        st.sampled_from("abc"),
        people,
        times,
        st.lists(people, max_size=3),
    ),
    st.builds(
        lambda text, author, at, channel: event(
            text, ["e", channel, "", "root"], author=author, kind=42, at=at
        ),
        st.sampled_from("abc"),
        people,
        times,
        st.sampled_from([CHANNEL, OTHER_CHANNEL]),
    ),
    st.builds(lambda author, at: event("long", author=author, kind=30023, at=at), people, times),
    st.builds(
        lambda author, at, named: event(
            "re", *[["e", one, "", mark] for one, mark in named], author=author, at=at
        ),
        people,
        times,
        st.lists(
            st.tuples(
                st.sampled_from([CHANNEL, OTHER_CHANNEL]), st.sampled_from(["root", "reply", "mention", ""])
            ),
            max_size=3,
        ),
    ),
)
filters = st.one_of(
    st.builds(filter_of, st.builds("user:{}".format, people)),
    st.builds(filter_of, st.builds("mentions:{}".format, people)),
    st.builds(filter_of, st.builds("group:{}".format, st.sampled_from([CHANNEL, OTHER_CHANNEL]))),
    st.builds(filter_of, st.builds("thread:{}".format, st.sampled_from([CHANNEL, OTHER_CHANNEL]))),
    st.just(Filter(kinds=(1, 42), tags=(("e", (CHANNEL,)),))),
    st.builds(
        lambda kinds, authors: Filter(kinds=tuple(kinds), authors=tuple(authors)),
        st.sets(st.sampled_from([1, 42, 30023]), min_size=1),
        st.sets(people, min_size=1),
    ),
    st.builds(lambda one: Filter(kinds=(42,), tags=(("p", (one,)),)), people),
    st.just(Filter(kinds=(42,), tags=(("e", (CHANNEL, OTHER_CHANNEL)),))),
    st.builds(lambda named: Filter(kinds=(1,), tags=(("p", tuple(named)),)), st.sets(people, min_size=1)),
)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(batch=st.lists(events, max_size=25), wanted=filters, since=times)
def test_what_we_have_for_a_filter_is_what_a_relay_would_send(
    tx: sqlite3.Connection, batch: list[Event], wanted: Filter, since: int
) -> None:
    with undone(tx):
        keep(tx, heard(*batch))
        asked = wanted.within(since=since)
        expected = {(one.id, one.created_at) for one in batch if asked.matches(one)}
        found = have_for(tx, wanted, since)
        assert set(found) == expected
        assert len(found) == len(expected), "each once"


def test_a_long_life_behind_a_surface_is_not_looked_through(tx: sqlite3.Connection) -> None:
    keep(tx, heard(*(message(f"old {n}", at=NOW - 10 * AHEAD_S) for n in range(200)), at=NOW - 10 * AHEAD_S))
    new = message("new", at=NOW)
    keep(tx, heard(new, at=NOW))
    steps = 0

    def count() -> int:
        nonlocal steps
        steps += 1
        return 0

    tx.set_progress_handler(count, 1)
    assert have_for(tx, filter_of(f"group:{CHANNEL}"), NOW - 60) == [(new.id, NOW)]
    tx.set_progress_handler(None, 1)
    assert steps < 300, "a few for the notes that were heard since, none for the others"


def test_what_lost_its_bytes_or_was_only_named_is_not_claimed(tx: sqlite3.Connection) -> None:
    """Claiming what we do not have would keep it from us for good."""
    pruned = message("old")
    beside = event("hi", ["e", OTHER_CHANNEL, "", "root"], ["e", CHANNEL, "", "mention"], kind=42)
    keep(tx, heard(pruned, beside))
    tx.execute("UPDATE notes SET raw = NULL WHERE id = ?", (pruned.id,))
    assert have_for(tx, filter_of(f"group:{CHANNEL}"), 0) == []


def test_our_own_notes_need_not_be_sent_to_us(tx: sqlite3.Connection) -> None:
    ours = message("at nine", author=BOT)
    keep_note(tx, ours, "own", NOW)
    assert have_for(tx, Filter(kinds=(1, 42), authors=(BOT,)), 0) == [(ours.id, NOW)]

from __future__ import annotations

import sqlite3

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.factory import ALICE, BOB, CAROL, NOW, deletion, event, heard, hex_of
from tests.stores import tx as tx
from tests.stores import undone
from uniun_bots.graph.expand import MOST_TOPICS, WEIGHTS, Linked, Tie, expand
from uniun_bots.graph.keep import keep
from uniun_bots.graph.scope import Scope
from uniun_bots.nostr.event import Event

ALL = Scope(everything=True)


def texts(found: list[Linked]) -> list[str]:
    return [linked.note.text for linked in found]


def answer(to: Event, text: str, *tags: tuple[str, ...], author: str = BOB, at: int = NOW) -> Event:
    return event(text, ("e", to.id, "", "reply"), *tags, author=author, at=at)


def test_links_go_both_ways_and_the_closest_tie_comes_first(tx: sqlite3.Connection) -> None:
    above, quoted = event("above"), event("quoted")
    middle = answer(above, "middle", ("q", quoted.id), ("t", "tides"), author=ALICE)
    below = answer(middle, "below")
    naming = event("naming", ("e", middle.id, "", "mention"))
    sharing, other = event("sharing", ("t", "tides")), event("other", ("t", "boats"))
    keep(tx, heard(other, sharing, above, quoted, middle, below, naming))
    found = expand(tx, middle.id, ALL, 10)
    assert texts(found) == ["below", "above", "quoted", "naming", "sharing"]
    ties = [linked.ties[0] for linked in found]
    assert ties == [
        Tie("reply", False),
        Tie("reply", True),
        Tie("quote", True),
        Tie("mention", False),
        Tie("topic", True, "tides"),
    ]
    assert texts(expand(tx, middle.id, ALL, 2)) == ["below", "above"]


def test_several_ties_to_one_note_add_up(tx: sqlite3.Connection) -> None:
    first = event("first", ("t", "tides"))
    second = event("second", ("q", first.id), ("t", "tides"))
    keep(tx, heard(first, second, answer(first, "third")))
    (strong, weak) = expand(tx, first.id, ALL, 10)
    assert (strong.note.text, weak.note.text) == ("second", "third")
    assert [tie.kind for tie in strong.ties] == ["quote", "topic"]
    assert strong.score > WEIGHTS["reply"]


def test_a_topic_of_few_ties_more_than_a_topic_of_many(tx: sqlite3.Connection) -> None:
    start = event("start", ("t", "rare"), ("t", "nostr"))
    common = [event(f"common {n}", ("t", "nostr"), at=NOW + n) for n in range(30)]
    keep(tx, heard(event("rare one", ("t", "rare")), start, *common))
    assert texts(expand(tx, start.id, ALL, 3)) == ["rare one", "common 29", "common 28"]


def test_an_edge_to_a_note_not_yet_known_is_a_link_once_it_comes(tx: sqlite3.Connection) -> None:
    late = event("late")
    early = event("early", ("q", late.id))
    keep(tx, heard(early))
    assert expand(tx, early.id, ALL, 10) == []
    keep(tx, heard(late))
    assert texts(expand(tx, early.id, ALL, 10)) == ["late"]
    assert texts(expand(tx, late.id, ALL, 10)) == ["early"]


def test_deleted_and_foreign_notes_are_no_links(tx: sqlite3.Connection) -> None:
    start = event("start")
    gone, carols = answer(start, "gone"), answer(start, "Carol's", author=CAROL)
    keep(tx, heard(start, gone, carols, answer(start, "Bob's")))
    keep(tx, heard(deletion(gone, author=BOB)))
    assert texts(expand(tx, start.id, Scope(authors=(BOB,)), 10)) == ["Bob's"]
    assert expand(tx, gone.id, ALL, 10) == []
    assert expand(tx, hex_of("never heard of"), ALL, 10) == []
    assert expand(tx, start.id, ALL, 0) == []


def test_private_notes_are_links_only_within_their_conversation(tx: sqlite3.Connection) -> None:
    start = event("start", ("t", "tides"))
    private = [answer(start, f"to {who}", ("t", "tides")) for who in "ab"]
    keep(tx, heard(start, *private))
    for note, audience in zip(private, ("dm:a", "dm:b"), strict=True):
        tx.execute("UPDATE notes SET audience = ? WHERE id = ?", (audience, note.id))
    assert expand(tx, start.id, ALL, 10) == []
    assert texts(expand(tx, start.id, Scope(everything=True, audience="dm:a"), 10)) == ["to a"]
    assert expand(tx, private[1].id, Scope(everything=True, audience="dm:a"), 10) == []


@pytest.mark.parametrize("length", [1, 2, 3])
def test_a_forged_ring_links_each_note_once_and_never_to_itself(tx: sqlite3.Connection, length: int) -> None:
    ids = [hex_of(f"ring {number}") for number in range(length)]
    for seq, note_id in enumerate(ids, start=1):
        tx.execute(
            "INSERT INTO notes (seq, id, author, kind, created_at, text, origin, heard_at)"
            " VALUES (?, ?, ?, 1, ?, 'x', 'relay', 0)",
            (seq, note_id, ALICE, NOW),
        )
        tx.execute("INSERT INTO edges VALUES (?, 'reply', ?)", (seq, ids[seq % length]))
    assert {one.note.id for one in expand(tx, ids[0], ALL, 10)} == set(ids[1:])


def test_a_note_of_five_thousand_tags_is_expanded_within_bounds(tx: sqlite3.Connection) -> None:
    tags = [("t", f"topic{n}") for n in range(2500)] + [("e", hex_of(f"target {n}")) for n in range(2500)]
    monster = event("monster", *tags)
    keep(tx, heard(monster, *[event(f"n{n}", ("t", f"topic{n}")) for n in range(50)]))
    assert len(expand(tx, monster.id, ALL, 5)) == 5


_AUTHORS, _TOPICS = st.sampled_from([ALICE, BOB, CAROL]), st.sampled_from("abc")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)
@given(
    st.lists(
        st.tuples(_AUTHORS, st.sets(_TOPICS), st.sets(st.integers(0, 9)), st.booleans()),
        min_size=2,
        max_size=10,
    ),
    st.sets(_AUTHORS, min_size=1),
)
def test_the_links_are_those_that_a_look_at_every_note_finds(
    tx: sqlite3.Connection, notes: list[tuple[str, set[str], set[int], bool]], authors: set[str]
) -> None:
    """The naive way: each pair of notes, one after the other."""
    events: list[Event] = []
    named: list[set[int]] = []
    for number, (author, topics, quotes, _) in enumerate(notes):
        named.append({one for one in quotes if one < number})
        tags = [("q", events[one].id) for one in named[-1]] + [("t", topic) for topic in topics]
        events.append(event(f"note {number}", *tags, author=author))
    with undone(tx):
        keep(tx, heard(*events))
        private = [one[3] for one in notes]
        for one, hidden in zip(events, private, strict=True):
            if hidden:
                tx.execute("UPDATE notes SET audience = 'dm:x' WHERE id = ?", (one.id,))
        found = expand(tx, events[0].id, Scope(authors=tuple(authors)), 100)
    expected = {
        events[number].id
        for number, (author, topics, _, hidden) in enumerate(notes)
        if number and not hidden and not private[0] and author in authors
        if 0 in named[number] or topics & notes[0][1]
    }
    assert {linked.note.id for linked in found} == expected


def test_an_address_ties_its_newest_version_both_ways(tx: sqlite3.Connection) -> None:
    old = event("old", ("d", "tides"), author=CAROL, kind=30023)
    new = event("new", ("d", "tides"), author=CAROL, kind=30023, at=NOW + 1)
    address = f"30023:{CAROL}:tides"
    quoting = event("quoting", ("q", address), author=BOB)
    naming = event("naming", ("a", address, "", "root"), author=BOB)
    keep(tx, heard(quoting, old, naming))
    assert texts(expand(tx, quoting.id, ALL, 10)) == ["old"]
    keep(tx, heard(new))
    assert texts(expand(tx, quoting.id, ALL, 10)) == ["new"]
    assert texts(expand(tx, new.id, ALL, 10)) == ["quoting", "naming"]


def test_of_very_many_topics_the_rarest_are_followed(tx: sqlite3.Connection) -> None:
    many = [("t", f"common{n:02}") for n in range(60)]
    start = event("start", *many, ("t", "zzz"))
    keep(tx, heard(event("by a rare topic", ("t", "zzz")), start, event("a", *many), event("b", *many)))
    found = {linked.note.text: linked.ties for linked in expand(tx, start.id, ALL, 10)}
    assert "by a rare topic" in found
    assert len(found["a"]) == MOST_TOPICS - 1

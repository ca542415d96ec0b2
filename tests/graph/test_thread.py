from __future__ import annotations

import sqlite3

import pytest

from tests.factory import ALICE, BOB, CAROL, GROUP, NOW, deletion, event, heard, hex_of, message
from tests.stores import tx as tx
from uniun_bots.graph.keep import keep
from uniun_bots.graph.scope import Scope
from uniun_bots.graph.thread import MOST_ABOVE, MOST_CHILDREN, NOTHING, Thread, thread
from uniun_bots.nostr.event import Event

ALL = Scope(everything=True)


def answer(text: str, root: Event, parent: Event, author: str = ALICE, at: int = NOW) -> Event:
    return event(text, ("e", root.id, "", "root"), ("e", parent.id, "", "reply"), author=author, at=at)


def line(length: int, root: Event) -> list[Event]:
    found = [root]
    while len(found) < length:
        found.append(answer(f"n{len(found)}", root, found[-1]))
    return found


def words(found: Thread) -> tuple[list[str], list[str]]:
    return [note.text for note in found.ancestors], [note.text for note in found.children]


def test_a_thread_is_read_from_the_root_through_the_note_to_its_answers(tx: sqlite3.Connection) -> None:
    root, first, second = line(3, event("root"))
    late, early = answer("late", root, second, at=NOW + 9), answer("early", root, second, at=NOW + 5)
    keep(tx, heard(root, first, second, late, early, answer("elsewhere", root, first)))
    found = thread(tx, second.id, ALL)
    assert words(found) == (["root", "n1"], ["early", "late"])
    assert found.note is not None
    assert found.note.text == "n2"
    assert (found.missing, found.hidden, found.more_children) == (None, 0, False)


def test_the_root_stands_on_top_even_if_a_note_between_is_not_known(tx: sqlite3.Connection) -> None:
    events = line(5, event("root"))
    keep(tx, heard(*events[:2], *events[3:]))
    found = thread(tx, events[4].id, ALL)
    assert words(found)[0] == ["root", "n3"]
    assert found.missing == events[2].id


def test_a_very_long_way_up_is_bounded_and_still_ends_at_the_root(tx: sqlite3.Connection) -> None:
    events = line(MOST_ABOVE + 20, event("root"))
    keep(tx, heard(*events))
    found = thread(tx, events[-1].id, ALL)
    assert len(found.ancestors) == MOST_ABOVE + 1
    assert found.ancestors[0].text == "root"
    assert found.ancestors[-1].id == events[-2].id


def test_of_very_many_answers_the_first_ones_are_told_and_that_there_are_more(tx: sqlite3.Connection) -> None:
    root = event("root")
    answers = [answer(f"answer {n}", root, root, at=NOW + n) for n in range(MOST_CHILDREN + 5)]
    keep(tx, heard(root, *answers))
    found = thread(tx, root.id, ALL)
    assert [one.id for one in found.children] == [one.id for one in answers[:MOST_CHILDREN]]
    assert found.more_children


@pytest.mark.parametrize("length", [1, 2, 5])
def test_a_forged_ring_is_walked_once_and_no_note_is_above_and_below(
    tx: sqlite3.Connection, length: int
) -> None:
    ids = [hex_of(f"ring {number}") for number in range(length)]
    for seq, note_id in enumerate(ids, start=1):
        parent = ids[seq % length]
        tx.execute(
            "INSERT INTO notes (seq, id, author, kind, created_at, text, origin, heard_at, root, parent)"
            " VALUES (?, ?, ?, 1, ?, 'x', 'relay', 0, ?, ?)",
            (seq, note_id, ALICE, NOW, ids[0], parent),
        )
        tx.execute("INSERT INTO edges VALUES (?, 'reply', ?)", (seq, parent))
    found = thread(tx, ids[0], ALL)
    assert sorted(note.id for note in found.ancestors) == sorted(ids[1:])
    assert found.children == ()


def test_what_is_not_for_the_reader_is_passed_over_and_counted(tx: sqlite3.Connection) -> None:
    root = event("root", author=BOB)
    between = answer("between", root, root, author=CAROL)
    gone = answer("gone", root, between, author=BOB)
    last = answer("last", root, gone, author=BOB)
    below = [answer(f"by {who[:4]}", root, last, author=who) for who in (BOB, CAROL)]
    keep(tx, heard(root, between, gone, last, *below, deletion(gone, author=BOB)))
    found = thread(tx, last.id, Scope(authors=(BOB,)))
    assert words(found) == (["root"], [below[0].content])
    assert found.hidden == 2


def test_a_private_note_has_a_thread_only_for_its_own_conversation(tx: sqlite3.Connection) -> None:
    root, second = line(2, event("root"))
    keep(tx, heard(root, second))
    tx.execute("UPDATE notes SET audience = 'dm:a' WHERE id = ?", (second.id,))
    assert thread(tx, second.id, ALL) == NOTHING
    assert thread(tx, root.id, ALL).children == ()
    assert words(thread(tx, second.id, Scope(everything=True, audience="dm:a"))) == (["root"], [])
    assert words(thread(tx, root.id, Scope(everything=True, audience="dm:a"))) == ([], ["n1"])


def test_messages_of_a_group_thread_below_each_other_not_below_the_channel(tx: sqlite3.Connection) -> None:
    first = message("first")
    second = message("second", answers=first)
    keep(tx, heard(first, second))
    found = thread(tx, second.id, Scope(surfaces=(GROUP,)))
    assert words(found) == (["first"], [])
    assert found.missing is None
    assert thread(tx, hex_of("unknown"), ALL) == NOTHING

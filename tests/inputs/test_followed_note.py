from __future__ import annotations

import sqlite3

import pytest

from tests.factory import ALICE, BOB, BOT, CAROL, NOW, event, gana, hosted
from tests.inputs.scene import Scene
from uniun_bots.nostr.event import Event

TOP = event("the followed note", author=CAROL)


def answer(text: str, to: Event = TOP, author: str = ALICE, at: int = NOW) -> Event:
    tags = [["e", TOP.id, "", "root"]]
    if to is not TOP:
        tags.append(["e", to.id, "", "reply"])
    return event(text, *tags, author=author, at=at)


def following(tx: sqlite3.Connection, *, knows_it: bool = True, per_thread: int = 3) -> Scene:
    given = gana(
        input={"type": "followed-note", "ref": TOP.id},
        output={"type": "feed", "reply": True},
        limits={"per_thread": per_thread},
    )
    scene = Scene(tx, hosted(given), own=(BOT,))
    if knows_it:
        scene.hear(TOP)
    return scene


def test_answers_to_the_note_and_below_it_are_inputs(tx: sqlite3.Connection) -> None:
    scene = following(tx)
    direct = answer("direct")
    scene.hear(direct, answer("below", to=direct, author=BOB))
    assert scene.texts() == ["direct"]
    assert scene.texts() == ["below"]


def test_the_note_itself_and_what_only_mentions_it_are_not(tx: sqlite3.Connection) -> None:
    scene = following(tx)
    scene.hear(
        event("see that", ["e", TOP.id, "", "mention"]), event("a quote", ["q", TOP.id]), event("other")
    )
    assert scene.texts() == []


def test_an_author_who_answers_twice_in_a_row_gets_one_turn(tx: sqlite3.Connection) -> None:
    scene = following(tx)
    scene.hear(answer("one"), answer("two"), answer("of another", author=BOB))
    assert scene.texts() == ["one", "two"]
    assert scene.texts() == ["of another"]


def test_an_answer_below_another_one_is_a_turn_of_its_own(tx: sqlite3.Connection) -> None:
    scene = following(tx)
    theirs = answer("theirs", author=BOB)
    scene.hear(theirs, answer("straight"), answer("below", to=theirs))
    scene.close(scene.take())
    turn = scene.take()
    assert [note.text for note in turn.notes] == ["straight"]
    scene.close(turn)
    assert scene.texts() == ["below"]


@pytest.mark.parametrize("knows_it", [True, False])
def test_per_thread_counts_each_answer_with_what_follows_it(tx: sqlite3.Connection, knows_it: bool) -> None:
    """All of it is one thread by its tags: counted so, a followed note would fall silent after a few answers."""
    scene = following(tx, knows_it=knows_it, per_thread=1)
    first = answer("first", author=ALICE)
    scene.hear(first)
    scene.close(scene.take())
    scene.hear(answer("second", author=BOB))
    scene.close(scene.take())
    scene.hear(answer("more", to=first, author=CAROL))
    assert scene.texts() == []

from __future__ import annotations

import sqlite3

import pytest

from tests.factory import ALICE, BOB, BOT, GROUP, NOW, SECOND_BOT, event, heard, hex_of, message
from tests.inputs.scene import Scene
from tests.stores import count, undone
from uniun_bots.graph.keep import keep, keep_note
from uniun_bots.inputs.decided import AlreadyDecided, already_decided, decide, hold
from uniun_bots.inputs.elsewhere import notice_elsewhere
from uniun_bots.inputs.held import Held
from uniun_bots.inputs.turn import Turn
from uniun_bots.nostr.event import Event

GANAS_BY_KEY = {BOT: ("harbour-master", "tide"), SECOND_BOT: ("gull",)}


@pytest.fixture
def scene(tx: sqlite3.Connection) -> Scene:
    return Scene(tx)


def decide_again(scene: Scene, turn: Turn) -> None:
    decide(scene.tx, turn, run=99, ending="succeeded", thread="", now=NOW)


def arrive(scene: Scene, *events: Event) -> list[str]:
    """Ids of those that are told as foreign."""
    kept = keep(scene.tx, heard(*events))
    return [one.id for one in notice_elsewhere(scene.tx, kept.new, GANAS_BY_KEY, NOW)]


# the fence --------------------------------------------------------------------------------------------


def test_an_input_is_answered_once(scene: Scene) -> None:
    turn = scene.answer("hello")
    assert already_decided(scene.tx, turn)
    with pytest.raises(AlreadyDecided, match="harbour-master"):
        decide_again(scene, turn)


def test_a_turn_of_which_one_note_is_answered_leaves_nothing_behind(scene: Scene) -> None:
    """The store takes back a unit that raises, so not even its other notes are answered by it."""
    answered = scene.answer("one").notes
    more = scene.say("two", "three")
    overlapping = Turn(scene.gana, GROUP, (more[0], *answered, more[1]), None, 1)
    assert already_decided(scene.tx, overlapping)
    with undone(scene.tx), pytest.raises(AlreadyDecided):
        decide_again(scene, overlapping)
    assert scene.texts() == ["two", "three"]


def test_the_same_input_of_another_gana_is_another_decision(scene: Scene) -> None:
    turn = scene.answer("hello")
    another = Turn("tide", GROUP, turn.notes, None, 1)
    assert not already_decided(scene.tx, another)
    decide_again(scene, another)


def test_a_decision_takes_every_waiting_try_of_its_notes_with_it(scene: Scene) -> None:
    scene.say("one")
    scene.fail(scene.take())
    scene.say("two")
    scene.now += 1
    again = scene.fail(scene.take())
    assert again is not None
    scene.now = again
    scene.close(scene.take())
    assert count(scene.tx, "retries") == 0


def test_holding_twice_keeps_the_first_reason(scene: Scene) -> None:
    (note,) = scene.say("hello")
    for setting in ("input.deny", "input.allow"):
        hold(scene.tx, scene.gana, [Held(note.id, "no", setting)], NOW)
    assert scene.held() == {"hello": "input.deny"}


# our key, elsewhere -----------------------------------------------------------------------------------


def test_what_our_key_answered_elsewhere_is_answered(scene: Scene) -> None:
    asked = message("when?")
    scene.hear(asked)
    reply = message("at nine", answers=asked, author=BOT)
    assert arrive(scene, reply) == [reply.id]
    assert scene.texts() == []
    assert scene.decisions() == [(asked.id, "elsewhere")]


def test_the_reply_may_come_before_what_it_answers(scene: Scene) -> None:
    asked = message("when?")
    arrive(scene, message("at nine", answers=asked, author=BOT))
    scene.hear(asked)
    assert scene.texts() == []


def test_it_counts_for_every_gana_with_that_key_and_for_no_other(scene: Scene) -> None:
    asked = message("when?")
    arrive(scene, message("at nine", answers=asked, author=BOT))
    rows = scene.tx.execute("SELECT gana FROM answered ORDER BY gana").fetchall()
    assert [row[0] for row in rows] == ["harbour-master", "tide"]


def test_a_run_that_was_under_way_meanwhile_is_thrown_away(scene: Scene) -> None:
    asked = message("when?")
    scene.hear(asked)
    turn = scene.take()
    arrive(scene, message("at nine", answers=asked, author=BOT))
    with pytest.raises(AlreadyDecided):
        scene.close(turn)


def test_a_try_that_waits_is_forgotten(scene: Scene) -> None:
    asked = message("when?")
    scene.hear(asked)
    scene.fail(scene.take())
    arrive(scene, message("at nine", answers=asked, author=BOT))
    assert count(scene.tx, "retries") == 0


def test_what_we_answered_here_stays_as_it_was(scene: Scene) -> None:
    asked = message("when?")
    scene.hear(asked)
    scene.close(scene.take())
    arrive(scene, message("at nine, I said", answers=asked, author=BOT))
    assert scene.decisions() == [(asked.id, "succeeded")]


def test_our_own_reply_that_comes_back_from_a_relay_is_not_foreign(scene: Scene) -> None:
    reply = message("at nine", answers=message("when?"), author=BOT)
    keep_note(scene.tx, reply, "own", NOW)
    assert arrive(scene, reply) == []


def test_a_post_by_our_key_is_told_and_answers_nothing(scene: Scene) -> None:
    post = event("good morning", author=SECOND_BOT)
    top = message("good morning", author=BOT)
    others = event("hi", author=BOB)
    assert arrive(scene, post, top, others) == [post.id, top.id]
    assert count(scene.tx, "answered") == 0


def test_a_budget_counts_no_run_that_was_not_ours(tx: sqlite3.Connection) -> None:
    scene = Scene(tx)
    for number in range(50):
        asked = message(f"n{number}", author=hex_of(f"author {number}"))
        arrive(scene, asked, message(f"re {number}", answers=asked, author=BOT))
    scene.hear(message("hello", author=ALICE))
    assert scene.texts() == ["hello"]

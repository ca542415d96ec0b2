from __future__ import annotations

import sqlite3
from typing import Any

import pytest

from tests.factory import (
    ALICE,
    BOB,
    BOT,
    CAROL,
    CHANNEL,
    NOW,
    gana,
    hosted,
    hosted_on_mentions,
    mention,
    message,
)
from tests.inputs.scene import Scene
from uniun_bots.inputs import enabled
from uniun_bots.inputs.take import MOST_NOTES, PAGE
from uniun_bots.inputs.taken import Taken

EVERYTHING: dict[str, Any] = {"input": {"type": "group", "ref": CHANNEL, "batch": "all"}}


@pytest.fixture
def scene(tx: sqlite3.Connection) -> Scene:
    return Scene(tx)


def messages(count: int, author: str = ALICE) -> list[str]:
    return [f"{author[:2]} {number}" for number in range(count)]


# turns ------------------------------------------------------------------------------------------------


def test_a_turn_is_the_oldest_note_and_what_its_author_said_after_it(scene: Scene) -> None:
    scene.hear(message("a1"), message("b1", author=BOB), message("a2"), message("c1", author=CAROL))
    assert [scene.texts(), scene.texts(), scene.texts(), scene.texts()] == [["a1", "a2"], ["b1"], ["c1"], []]


def test_a_turn_has_twenty_notes_at_most_and_the_rest_follow(scene: Scene) -> None:
    scene.say(*messages(25))
    first = scene.take()
    assert len(first.notes) == MOST_NOTES
    assert scene.close(first)
    assert scene.texts() == messages(25)[MOST_NOTES:]


def test_an_answer_in_a_thread_is_a_turn_of_its_own(scene: Scene) -> None:
    joke, riddle = message("a joke", author=BOB), message("a riddle", author=CAROL)
    scene.hear(joke, riddle)
    scene.close(scene.take())
    scene.close(scene.take())
    scene.hear(
        message("haha", answers=joke), message("42?", answers=riddle), message("good one", answers=joke)
    )
    first = scene.take()
    assert [note.text for note in first.notes] == ["haha", "good one"]
    scene.close(first)
    assert scene.texts() == ["42?"]


def test_two_posts_that_mention_us_are_two_threads(tx: sqlite3.Connection) -> None:
    scene = Scene(tx, hosted_on_mentions())
    scene.hear(mention("when is high water?"), mention("and when does the ferry go?"))
    first = scene.take()
    scene.close(first)
    second = scene.take()
    assert [first.notes[0].text, second.notes[0].text] == [
        "when is high water?",
        "and when does the ferry go?",
    ]


def test_two_answers_in_one_thread_of_posts_are_one_turn(tx: sqlite3.Connection) -> None:
    scene = Scene(tx, hosted_on_mentions())
    ours = mention("at nine", author=BOT)
    scene.hear(ours)
    scene.hear(mention("thanks", answers=ours), mention("and back?", answers=ours))
    assert scene.texts() == ["thanks", "and back?"]


def test_an_author_is_answered_one_turn_after_the_other(scene: Scene) -> None:
    scene.say("first")
    running = scene.take()
    scene.say("second")
    scene.hear(message("bob", author=BOB))
    assert scene.texts() == ["bob"]
    assert scene.look() == Taken()
    scene.close(running)
    assert scene.texts() == ["second"]


def test_what_waits_behind_a_running_turn_costs_no_look_at_each_note(scene: Scene) -> None:
    """A flood by one author: between two of their turns thousands of notes are passed over at once."""
    scene.say(*messages(2 * MOST_NOTES))
    scene.take()
    few = looks(scene)
    scene.say(*messages(10 * PAGE, "more"))
    assert looks(scene) == few


def looks(scene: Scene) -> int:
    """Statements that a take runs which finds nothing."""
    statements: list[str] = []
    scene.tx.set_trace_callback(statements.append)
    assert scene.look() == Taken()
    scene.tx.set_trace_callback(None)
    return len(statements)


def test_everything_is_everybody(tx: sqlite3.Connection) -> None:
    scene = Scene(tx, hosted(gana(**EVERYTHING)))
    joke = message("a joke", author=BOB)
    scene.hear(message("a1"), joke, message("a2"), message("haha", answers=joke, author=CAROL))
    assert scene.texts() == ["a1", "a joke", "a2", "haha"]


def test_everything_is_twenty_at_most(tx: sqlite3.Connection) -> None:
    scene = Scene(tx, hosted(gana(**EVERYTHING)))
    scene.hear(*(message(f"n{number}", author=(ALICE, BOB)[number % 2]) for number in range(25)))
    first = scene.take()
    scene.close(first)
    assert (len(first.notes), len(scene.texts())) == (MOST_NOTES, 5)


def test_held_notes_between_leave_the_turn_whole(scene: Scene) -> None:
    scene.hear(message("a1"), message("#nobot"), message("a2"))
    assert scene.texts() == ["a1", "a2"]
    assert scene.held() == {"#nobot": "#nobot"}


def test_a_long_row_of_held_notes_hides_nobody(scene: Scene) -> None:
    scene.say(*(f"#nobot {number}" for number in range(3 * PAGE)))
    scene.hear(message("hello", author=BOB))
    assert scene.texts() == ["hello"]
    assert len(scene.held()) == 3 * PAGE


def test_when_all_is_held_the_cursor_passes_it(scene: Scene) -> None:
    notes = scene.say("#nobot 1", "#nobot 2")
    assert scene.look().turn is None
    assert scene.cursor() == notes[-1].seq + 1


def test_one_that_runs_long_holds_the_cursor_and_nobody_else(scene: Scene) -> None:
    (slow,) = scene.say("slow")
    turn = scene.take()
    for number in range(5):
        scene.hear(message(f"quick {number}", author=BOB))
        scene.close(scene.take())
        assert scene.cursor() == slow.seq
    scene.close(turn)
    assert scene.cursor() == slow.seq + 6


# on, off, paused, spent -------------------------------------------------------------------------------


def test_a_paused_gana_takes_nothing_and_loses_nothing(scene: Scene) -> None:
    enabled.pause(scene.tx, scene.gana, "by a person")
    scene.say("hello")
    assert scene.look() == Taken()
    enabled.resume(scene.tx, scene.gana)
    assert scene.texts() == ["hello"]


def test_a_gana_that_is_off_takes_nothing(scene: Scene) -> None:
    scene.say("hello")
    enabled.turn_off(scene.tx, scene.gana)
    assert (scene.look(), scene.held()) == (Taken(), {})


def test_a_gana_nobody_turned_on_takes_nothing(scene: Scene) -> None:
    scene.say("hello")
    scene.tx.execute("DELETE FROM ganas")
    assert scene.look() == Taken()


def test_once_on_first_message_runs_one_turn_at_a_time(tx: sqlite3.Connection) -> None:
    scene = Scene(tx, hosted(gana(trigger="once-on-first-message")))
    scene.hear(message("first"), message("second", author=BOB))
    first = scene.take()
    assert scene.look() == Taken()
    scene.close(first, "silent")
    assert scene.texts() == ["second"], "a silent run has not spent it"


def test_several_turns_are_taken_on_one_way_when_there_is_room(scene: Scene) -> None:
    scene.hear(message("a1"), message("b1", author=BOB), message("a2"), message("c1", author=CAROL))
    taken = scene.look(most=2)
    assert taken.turn is not None
    assert [note.text for note in taken.turn.notes] == ["a1", "a2"]
    assert [[note.text for note in turn.notes] for turn, _ in taken.others] == [["b1"]]
    assert taken.more
    assert scene.texts() == ["c1"]


def test_turns_that_are_taken_together_count_against_the_budget_of_the_next(tx: sqlite3.Connection) -> None:
    scene = Scene(tx, hosted(gana(limits={"per_hour": 2})))
    scene.hear(message("a"), message("b", author=BOB), message("c", author=CAROL))
    assert len(scene.look(most=9).others) == 1
    assert scene.texts() == []
    assert scene.held() == {"c": "limits.per_hour"}


def test_what_came_newest_first_is_answered_as_it_was_written(scene: Scene) -> None:
    scene.hear(message("third", at=NOW + 3), message("first", at=NOW + 1), message("second", at=NOW + 2))
    turn = scene.take()
    assert [note.text for note in turn.notes] == ["third", "first", "second"], (
        "arrival is the order of cursors"
    )
    assert [note.text for note in turn.as_written()] == ["first", "second", "third"]
    assert turn.latest.text == "third"

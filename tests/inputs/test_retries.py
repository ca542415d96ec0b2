from __future__ import annotations

import sqlite3

import pytest

from tests.factory import (
    BOB,
    message,
)
from tests.inputs.scene import Scene
from uniun_bots.inputs.taken import Taken


@pytest.fixture
def scene(tx: sqlite3.Connection) -> Scene:
    return Scene(tx)


def test_a_failed_turn_waits_and_comes_again(scene: Scene) -> None:
    scene.say("hello")
    again = scene.fail(scene.take())
    assert again is not None
    taken = scene.look()
    assert (taken.turn, taken.next_at) == (None, again)
    scene.now = again
    turn = scene.take()
    assert (turn.notes[0].text, turn.attempt) == ("hello", 2)


def test_a_failed_turn_holds_nobody_else_up_and_is_never_passed(scene: Scene) -> None:
    (first,) = scene.say("hello")
    scene.fail(scene.take())
    scene.hear(message("bob", author=BOB))
    scene.close(scene.take())
    assert scene.cursor() == first.seq


def test_the_earliest_of_several_tries_is_told(scene: Scene) -> None:
    scene.say("a")
    first = scene.fail(scene.take())
    scene.now += 2
    scene.hear(message("b", author=BOB))
    scene.fail(scene.take())
    assert scene.look().next_at == first
    scene.now += 3
    scene.fail(scene.take())
    assert scene.look().next_at == scene.now + 2, "the second is earlier now"


def test_what_was_said_meanwhile_joins_the_next_try(scene: Scene) -> None:
    scene.say("hello")
    again = scene.fail(scene.take())
    assert again is not None
    scene.now = again
    scene.say("are you there?")
    assert scene.texts() == ["hello", "are you there?"]


def test_after_five_tries_it_is_a_dead_letter_and_the_cursor_goes_on(scene: Scene) -> None:
    (note,) = scene.say("hello")
    waits = []
    while (again := scene.fail(scene.take())) is not None:
        waits.append(again - scene.now)
        scene.now = again
    assert waits == [5, 30, 120, 600]
    assert scene.decisions() == [(note.id, "dead")]
    assert (scene.cursor(), scene.look()) == (note.seq + 1, Taken())
    assert scene.tx.execute("SELECT count(*) FROM retries").fetchone()[0] == 0


def test_a_restart_goes_on_counting_tries(scene: Scene) -> None:
    scene.say("hello")
    again = scene.fail(scene.take())
    assert again is not None
    scene.running.clear()
    scene.now = again
    assert scene.take().attempt == 2


def test_a_turn_that_was_abandoned_counts_no_try(scene: Scene) -> None:
    scene.say("hello")
    scene.take()
    scene.running.clear()
    assert scene.take().attempt == 1

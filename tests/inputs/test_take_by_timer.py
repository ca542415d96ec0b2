from __future__ import annotations

import sqlite3
from typing import Any

from tests.factory import (
    ALICE,
    BOB,
    CAROL,
    NOW,
    gana,
    hosted,
    message,
)
from tests.inputs.scene import Scene
from uniun_bots.inputs.take import MOST_NOTES, PAGE
from uniun_bots.inputs.taken import Taken

BY_TIMER: dict[str, Any] = {"trigger": "on-schedule", "every": "1h"}


def messages(count: int, author: str = ALICE) -> list[str]:
    return [f"{author[:2]} {number}" for number in range(count)]


def timed(tx: sqlite3.Connection, **fields: Any) -> Scene:
    return Scene(tx, hosted(gana(**(BY_TIMER | fields))))


def test_a_timer_takes_everything_that_waits(tx: sqlite3.Connection) -> None:
    scene = timed(tx)
    scene.hear(message("a"), message("b", author=BOB), message("#nobot"), message("c", author=CAROL))
    turn = scene.take(due=NOW + 60)
    assert [note.text for note in turn.notes] == ["a", "b", "c"]
    assert turn.keys == (f"due:{NOW + 60}", *(note.id for note in turn.notes))
    scene.close(turn)
    assert (scene.pending(), scene.look(due=NOW + 60)) == ([], Taken())


def test_a_timer_with_nothing_to_answer_runs_nothing(tx: sqlite3.Connection) -> None:
    scene = timed(tx)
    scene.say("#nobot")
    assert scene.look(due=NOW).turn is None
    assert scene.pending() == []


def test_a_standalone_gana_runs_with_nothing_to_answer(tx: sqlite3.Connection) -> None:
    scene = timed(tx, input=None, output={"type": "feed"})
    turn = scene.take(due=NOW)
    assert (turn.surface, turn.notes, turn.keys) == ("timer", (), (f"due:{NOW}",))


def test_a_timer_is_answered_once(tx: sqlite3.Connection) -> None:
    scene = timed(tx, input=None, output={"type": "feed"})
    scene.close(scene.take(due=NOW), "silent")
    assert scene.look(due=NOW) == Taken()
    assert scene.take(due=NOW + 3600).due == NOW + 3600


def test_a_failed_timer_comes_again(tx: sqlite3.Connection) -> None:
    scene = timed(tx, input=None, output={"type": "feed"})
    again = scene.fail(scene.take(due=NOW))
    assert scene.look(due=NOW).next_at == again
    assert again is not None
    scene.now = again
    assert scene.take(due=NOW).attempt == 2


def test_a_long_row_of_held_notes_hides_nothing_from_a_digest(tx: sqlite3.Connection) -> None:
    scene = timed(tx)
    scene.say(*(f"#nobot {number}" for number in range(2 * PAGE)), "hello")
    assert scene.texts(due=NOW) == ["hello"]


def test_a_digest_has_twenty_notes_at_most(tx: sqlite3.Connection) -> None:
    scene = timed(tx)
    scene.say(*messages(3 * PAGE))
    assert scene.texts(due=NOW) == messages(3 * PAGE)[:MOST_NOTES]
    assert len(scene.pending()) == 3 * PAGE


def test_a_digest_asks_for_no_budget_of_authors_or_threads(tx: sqlite3.Connection) -> None:
    scene = timed(tx, limits={"per_author_per_hour": 1, "per_thread": 1})
    for due in (NOW, NOW + 3600):
        scene.say(f"at {due}")
        turn = scene.take(due)
        assert [note.text for note in turn.notes] == [f"at {due}"]
        scene.close(turn)


def test_a_timer_leaves_alone_what_is_under_way(tx: sqlite3.Connection) -> None:
    scene = Scene(tx, hosted(gana(trigger="message-or-schedule", every="1h")))
    scene.say("a1")
    running = scene.take()
    scene.say("a2")
    scene.hear(message("b", author=BOB))
    assert scene.texts(due=NOW) == ["b"]
    scene.close(running)
    assert scene.texts() == ["a2"]


def test_messages_wake_no_gana_that_runs_by_the_clock_alone(tx: sqlite3.Connection) -> None:
    scene = timed(tx)
    scene.say("hello")
    assert scene.look() == Taken()
    assert scene.pending() == ["hello"]

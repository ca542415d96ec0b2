from __future__ import annotations

import sqlite3
from typing import Any

import pytest

from tests.factory import (
    ALICE,
    BOB,
    BOT,
    CAROL,
    NOW,
    event,
    gana,
    hex_of,
    hosted,
    hosted_on_mentions,
    mention,
    message,
)
from tests.inputs.scene import Scene

ENDINGS = ("succeeded", "silent", "exhausted", "malformed", "dead")


def limited(tx: sqlite3.Connection, **limits: int) -> Scene:
    plenty = {"per_hour": 1000, "per_day": 1000, "per_thread": 1000, "per_author_per_hour": 1000}
    return Scene(tx, hosted(gana(limits=plenty | limits)))


def by(author: str, *texts: str) -> list[Any]:
    return [message(text, author=author) for text in texts]


@pytest.mark.parametrize("name", ["per_hour", "per_day", "per_author_per_hour"])
def test_a_budget_that_is_used_up_holds_and_names_itself(tx: sqlite3.Connection, name: str) -> None:
    scene = limited(tx, **{name: 2})
    scene.answer("one")
    scene.answer("two")
    scene.say("three")
    assert scene.texts() == []
    assert scene.held() == {"three": f"limits.{name}"}


@pytest.mark.parametrize(
    ("name", "window_s"), [("per_hour", 3600), ("per_day", 86_400), ("per_author_per_hour", 3600)]
)
def test_a_budget_comes_back_with_time(tx: sqlite3.Connection, name: str, window_s: int) -> None:
    scene = limited(tx, **{name: 1})
    scene.answer("one")
    scene.now = NOW + window_s - 1
    scene.hear(message("too soon", at=int(scene.now)))
    assert scene.texts() == []
    scene.now = NOW + window_s
    scene.hear(message("later", at=int(scene.now)))
    assert scene.texts() == ["later"]
    assert scene.held() == {"too soon": f"limits.{name}"}, "held is final"


@pytest.mark.parametrize("ending", ENDINGS)
def test_runs_of_any_ending_count(tx: sqlite3.Connection, ending: str) -> None:
    scene = limited(tx, per_hour=1)
    scene.say("one")
    scene.close(scene.take(), ending)
    scene.say("two")
    assert scene.texts() == []


def test_failed_tries_count(tx: sqlite3.Connection) -> None:
    scene = limited(tx, per_hour=2)
    scene.say("one")
    scene.fail(scene.take())
    scene.hear(*by(BOB, "bob"))
    scene.close(scene.take())
    scene.hear(*by(CAROL, "carol"))
    assert scene.texts() == []
    assert scene.held() == {"carol": "limits.per_hour"}


def test_runs_that_are_under_way_count(tx: sqlite3.Connection) -> None:
    scene = limited(tx, per_hour=2)
    scene.hear(*by(ALICE, "a"), *by(BOB, "b"), *by(CAROL, "c"))
    assert [scene.texts(), scene.texts(), scene.texts()] == [["a"], ["b"], []]
    assert scene.held() == {"c": "limits.per_hour"}


def test_a_turn_of_many_notes_is_one_run(tx: sqlite3.Connection) -> None:
    scene = limited(tx, per_hour=2)
    scene.answer("one", "two", "three")
    scene.say("four")
    assert scene.texts() == ["four"]


def test_an_author_who_used_up_theirs_costs_nobody_else(tx: sqlite3.Connection) -> None:
    scene = limited(tx, per_author_per_hour=1)
    scene.answer("one")
    scene.hear(*by(ALICE, "two"), *by(BOB, "bob"))
    assert scene.texts() == ["bob"]
    assert scene.held() == {"two": "limits.per_author_per_hour"}


def test_a_thread_that_used_up_its_own_costs_no_other_thread(tx: sqlite3.Connection) -> None:
    """A21: two that answer each other without end are stopped by their thread."""
    scene = limited(tx, per_thread=2)
    first = message("a")
    scene.hear(first)
    scene.close(scene.take())
    second = message("b", answers=first)
    scene.hear(second)
    scene.close(scene.take())
    scene.hear(message("c", answers=second, author=BOB), message("elsewhere"))
    assert scene.texts() == ["elsewhere"]
    assert scene.held() == {"c": "limits.per_thread"}


def test_a_thread_that_is_tagged_by_its_root_alone_is_known_without_what_lies_between(
    tx: sqlite3.Connection,
) -> None:
    scene = Scene(tx, hosted_on_mentions(limits={"per_thread": 2}))
    for number in range(3):
        missing = [["e", hex_of("top"), "", "root"], ["e", hex_of(f"missing {number}"), "", "reply"]]
        scene.hear(event(f"n{number}", ["p", BOT], *missing, author=(ALICE, BOB, CAROL)[number]))
        taken = scene.look(looked_for=[hex_of(f"missing {number}")])
        if taken.turn:
            scene.close(taken.turn)
    assert scene.held() == {"n2": "limits.per_thread"}


def test_a_thread_under_way_counts(tx: sqlite3.Connection) -> None:
    scene = limited(tx, per_thread=2)
    top = message("top")
    scene.hear(top)
    scene.close(scene.take())
    scene.hear(message("a", answers=top), message("b", answers=top, author=BOB))
    assert [scene.texts(), scene.texts()] == [["a"], []]
    assert scene.held() == {"b": "limits.per_thread"}


def test_two_bots_that_answer_each_other_go_quiet(tx: sqlite3.Connection) -> None:
    """A21, with a bot whose profile does not say so; the limits are those of a persona that sets none."""
    scene = Scene(tx, hosted_on_mentions())
    last, replies = mention("hello bot", author=BOB), 0
    for turn in range(40):
        scene.now = NOW + 60 * turn
        scene.hear(last)
        taken = scene.look().turn
        if taken is None:
            break
        scene.close(taken)
        replies += 1
        ours = mention(f"you are welcome {turn}", answers=last, author=BOT, at=int(scene.now))
        scene.hear(ours)
        last = mention(f"no, you are {turn}", answers=ours, author=BOB, at=int(scene.now) + 1)
    assert replies == 3
    assert set(scene.held().values()) == {"limits.per_thread"}


def test_a_timer_has_the_budgets_of_the_gana_only(tx: sqlite3.Connection) -> None:
    fields: dict[str, Any] = {
        "trigger": "on-schedule",
        "every": "1h",
        "input": None,
        "output": {"type": "feed"},
    }
    scene = Scene(
        tx, hosted(gana(limits={"per_hour": 2, "per_thread": 1, "per_author_per_hour": 1}, **fields))
    )
    for due in (NOW, NOW + 1):
        scene.close(scene.take(due))
    assert scene.look(NOW + 2).turn is None


def test_budgets_of_one_gana_say_nothing_about_another(tx: sqlite3.Connection) -> None:
    limited(tx, per_hour=1).answer("one")
    tide = Scene(tx, hosted(gana("tide", limits={"per_hour": 1})))
    tide.say("two")
    assert tide.texts() == ["two"]

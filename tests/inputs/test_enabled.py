from __future__ import annotations

import sqlite3

from tests.factory import GROUP, NOW, gana, heard, hex_of, hosted, mention, message
from tests.inputs.scene import Scene
from uniun_bots.graph.keep import keep
from uniun_bots.graph.profiles import mark_checked
from uniun_bots.inputs import enabled
from uniun_bots.inputs.enabled import OFF, Standing, standing, turn_off, turn_on

GANA = "harbour-master"


def test_a_gana_nobody_turned_on_is_off(tx: sqlite3.Connection) -> None:
    assert standing(tx, GANA) == OFF


def test_turning_on_starts_at_now(tx: sqlite3.Connection) -> None:
    keep(tx, heard(message("one"), message("two")))
    assert turn_on(tx, GANA, NOW)
    assert standing(tx, GANA) == Standing(True, NOW, 3, False, None, False)


def test_a_restart_turns_nothing_on_again(tx: sqlite3.Connection) -> None:
    turn_on(tx, GANA, NOW)
    before = standing(tx, GANA)
    keep(tx, heard(message("while it was away")))
    assert not turn_on(tx, GANA, NOW + 900)
    assert not turn_on(tx, GANA, NOW + 900, catch_up=True)
    assert standing(tx, GANA) == before


def test_the_first_start_answers_nothing_old(tx: sqlite3.Connection) -> None:
    """A20: 400 mentions of two years, told by the relay after the start."""
    scene = Scene(tx)
    old = [
        message(f"old {number}", author=hex_of(f"author {number}"), at=NOW - 100 - number * 150_000)
        for number in range(400)
    ]
    scene.hear(*old)
    scene.hear(message("new", at=NOW + 1))
    assert scene.texts() == ["new"]
    assert len(scene.held()) == 400


def test_what_came_while_it_was_off_is_left_alone(tx: sqlite3.Connection) -> None:
    scene = Scene(tx)
    scene.answer("before")
    turn_off(tx, GANA)
    scene.now += 900
    scene.hear(message("while it was off", at=NOW + 900))
    turn_on(tx, GANA, scene.now)
    scene.hear(message("after", at=NOW + 901))
    assert scene.texts() == ["after"]


def test_catching_up_goes_on_where_it_stopped(tx: sqlite3.Connection) -> None:
    scene = Scene(tx)
    scene.answer("before")
    turn_off(tx, GANA)
    scene.now += 900
    scene.hear(message("while it was off", at=NOW + 800))
    turn_on(tx, GANA, scene.now, catch_up=True)
    assert scene.texts() == ["while it was off"]


def test_catching_up_for_the_first_time_takes_all_that_is_young_enough(tx: sqlite3.Connection) -> None:
    keep(tx, heard(message("a year", at=NOW - 365 * 86_400), message("an hour", at=NOW - 3600)))
    turn_on(tx, GANA, NOW, catch_up=True)
    scene = Scene(tx)
    mark_checked(tx, [message().author], NOW)
    assert scene.texts() == ["an hour"]
    assert scene.held() == {"a year": "input.max_age"}


def test_turning_on_re_arms_a_spent_trigger(tx: sqlite3.Connection) -> None:
    turn_on(tx, GANA, NOW)
    enabled.spend(tx, GANA)
    assert standing(tx, GANA).spent
    for catch_up in (False, True):
        turn_off(tx, GANA)
        turn_on(tx, GANA, NOW, catch_up=catch_up)
        assert not standing(tx, GANA).spent
        enabled.spend(tx, GANA)


def test_a_pause_outlives_a_restart_and_being_turned_off_and_on(tx: sqlite3.Connection) -> None:
    turn_on(tx, GANA, NOW)
    enabled.pause(tx, GANA, "by a person")
    turn_on(tx, GANA, NOW)
    turn_off(tx, GANA)
    turn_on(tx, GANA, NOW + 5)
    assert standing(tx, GANA).paused == "by a person"
    enabled.resume(tx, GANA)
    assert standing(tx, GANA).paused is None


def test_a_gana_may_be_paused_before_it_was_ever_on(tx: sqlite3.Connection) -> None:
    enabled.pause(tx, GANA, "by a person")
    assert turn_on(tx, GANA, NOW)
    assert standing(tx, GANA).paused == "by a person"


def test_a_start_that_lies_in_the_future_is_repaired_and_no_other(tx: sqlite3.Connection) -> None:
    """A15, E05: the clock was set back an hour."""
    scene = Scene(tx)
    turn_on(tx, "tide", NOW - 9000)
    back = NOW - 3600
    enabled.repair(tx, back)
    assert (standing(tx, GANA).enabled_at, standing(tx, "tide").enabled_at) == (back, NOW - 9000)
    scene.now = back
    scene.hear(message("hello", at=back + 1))
    assert scene.texts() == ["hello"]


def test_the_same_events_after_a_restart_are_answered_once(tx: sqlite3.Connection) -> None:
    """E05, A19: twenty handled, the relay tells them again with one that is new."""
    scene = Scene(tx, hosted(gana(limits={"per_hour": 100})))
    twenty = [
        message(f"n{number}", author=hex_of(f"author {number}"), at=NOW + number) for number in range(20)
    ]
    scene.hear(*twenty)
    while turn := scene.look().turn:
        scene.close(turn)
    assert len(scene.decisions()) == 20
    for now in (NOW + 60, NOW - 3540):
        scene.running.clear()
        scene.now = now
        enabled.repair(tx, now)
        scene.hear(*twenty, message(f"new at {now}", at=now))
        assert scene.texts() == [f"new at {now}"]
        assert scene.look().turn is None


def test_a_gana_on_another_surface_starts_it_where_it_was_turned_on(tx: sqlite3.Connection) -> None:
    keep(tx, heard(mention("before")))
    scene = Scene(tx)
    assert scene.surface == GROUP
    scene.answer("in the group")
    scene.surface = f"mentions:{scene.hosted.pubkey}"
    scene.hear(mention("after"))
    assert scene.pending() == ["after"]

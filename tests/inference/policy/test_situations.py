"""The situations that the scheduler was made for, on one seat in virtual time."""

from __future__ import annotations

import pytest

from tests.inference.policy.timeline import Timeline
from uniun_bots.inference.policy.policy import Policy


@pytest.fixture
def line() -> Timeline:
    return Timeline(Policy())


def two_slots() -> Timeline:
    return Timeline(Policy(slots=2))


def test_chat_that_arrives_during_background_work_starts_at_once_and_the_work_resumes(line: Timeline) -> None:
    line.submit("gana", 30)
    line.run(10)
    line.submit("hello", 4, kind="chat")
    assert line.running() == ["hello"]
    line.run(4)
    assert line.running() == []
    line.run(9.5)
    assert line.running() == []
    line.run(1)
    assert line.running() == ["gana"]
    line.run(20)
    assert line.work("gana").ended_at == 10 + 4 + 10 + 20


def test_two_ganas_alternate_fairly(line: Timeline) -> None:
    for n in range(4):
        line.submit(f"a{n}", 5, owner="a")
    for n in range(4):
        line.submit(f"b{n}", 5, owner="b")
    line.run(40)
    assert line.order() == ["a0", "b0", "a1", "b1", "a2", "b2", "a3", "b3"]


def test_a_late_timer_beats_the_pool(line: Timeline) -> None:
    line.submit("long", 1000)
    line.submit("next", 5)
    line.submit("timer", 5, owner="long", due=40)
    line.run(99)
    assert line.running() == ["long"]
    line.run(1)
    assert line.running() == ["timer"]
    line.run(5)
    assert line.running() == ["next"]
    line.run(5)
    assert line.running() == ["long"]


def test_a_foreground_screen_takes_over_and_gives_back(line: Timeline) -> None:
    line.submit("a0", 30)
    line.submit("b0", 10, owner="b")
    line.submit("b1", 10, owner="b")
    line.run(5)
    line.foreground("b")
    assert line.running() == ["b0"]
    line.run(12)
    assert line.running() == ["b1"]
    line.foreground(None)
    assert line.running() == ["b1"], "what runs is not stopped by its own equals"
    line.run(8)
    assert line.running() == ["a0"]
    line.run(25)
    assert line.work("a0").ended_at == 50


def test_a_backlog_of_500_notes_to_extract_leaves_forty_percent_to_others(line: Timeline) -> None:
    for n in range(500):
        line.submit(f"note{n}", 5, kind="extract")
    for n in range(300):
        line.submit(f"a{n}", 7, owner="a")
    line.run(1500)
    for second in range(0, 1200, 10):
        assert line.seconds_of("extract", second, second + 300) <= 180 + 1e-6
    assert line.seconds_of("extract", 0, 1500) >= 0.57 * 1500
    assert line.seconds_of("a", 0, 1500) >= 0.40 * 1500 - 7


def test_jobs_of_the_same_model_run_in_a_batch() -> None:
    line = Timeline(Policy(), swap_s=5)
    for n in range(4):
        line.submit(f"a{n}", 5, owner=f"ga{n}", model="a")
        line.submit(f"b{n}", 5, owner=f"gb{n}", model="b")
    line.run(60)
    assert line.order() == ["a0", "a1", "a2", "a3", "b0", "b1", "b2", "b3"]


def test_an_extraction_for_the_note_just_opened_jumps_ahead(line: Timeline) -> None:
    for n in range(10):
        line.submit(f"note{n}", 5, kind="extract")
    line.run(2)
    line.submit("opened", 5, kind="extract", foreground=True)
    assert line.running() == ["opened"]
    line.run(5)
    assert line.running() == ["note0"]


def test_a_gentle_switch_runs_after_the_job_that_ran_ended_by_itself(line: Timeline) -> None:
    line.submit("a0", 20)
    line.submit("b0", 20)
    line.run(5)
    line.submit("switch", 3, kind="switch", model="new")
    line.foreground("b0")
    assert line.running() == ["b0"], "a foreground change never pulls a switch in"
    line.run(20)
    assert line.running() == ["a0"]
    line.submit("hello", 2, kind="chat")
    line.run(2 + 10 + 14)
    assert line.running() == ["a0"]
    line.run(1)
    assert line.running() == ["switch"]


def test_a_gentle_switch_with_nothing_to_wait_for_runs_at_once(line: Timeline) -> None:
    line.submit("switch", 3, kind="switch", model="new")
    assert line.running() == ["switch"]
    line.submit("hello", 2, kind="chat", model="new")
    assert line.running() == ["switch"]
    line.run(3)
    assert line.running() == ["hello"]


def test_chat_that_arrives_before_a_gentle_switch_starts_goes_first(line: Timeline) -> None:
    line.submit("a0", 20)
    line.submit("switch", 3, kind="switch", model="new")
    line.run(19)
    line.submit("hello", 5, kind="chat")
    line.run(5 + 10 + 0.5)
    line.submit("again", 5, kind="chat")
    line.run(5 + 10 + 0.5)
    assert line.running() == ["switch"]
    assert line.order() == ["a0", "hello", "a0", "again", "a0", "switch"]


def test_a_forced_switch_during_chat_cancels_the_chat(line: Timeline) -> None:
    line.submit("hello", 10, kind="chat")
    line.submit("next", 2, kind="chat", model="new")
    line.run(1)
    line.submit("switch", 3, kind="switch", model="new", forced=True)
    assert line.running() == ["switch"]
    assert line.work("hello").cancelled_at == 1
    line.run(3)
    assert line.running() == ["next"]
    line.run(60)
    assert line.work("hello").ended_at is None


def test_a_forced_switch_puts_a_gana_back_into_the_queue(line: Timeline) -> None:
    line.submit("a0", 10)
    line.run(4)
    line.submit("switch", 3, kind="switch", model="m", forced=True)
    assert line.running() == ["switch"]
    line.run(3)
    assert line.running() == ["a0"]
    line.run(6)
    assert line.work("a0").ended_at == 13


def test_two_calls_to_a_cloud_engine_overlap() -> None:
    line = two_slots()
    line.submit("a0", 10)
    line.submit("b0", 10)
    line.submit("c0", 10)
    assert line.running() == ["a0", "b0"]
    line.run(10)
    assert line.running() == ["c0"]


def test_chat_over_overlapping_calls_makes_both_give_way() -> None:
    line = two_slots()
    line.submit("a0", 10)
    line.submit("b0", 10)
    line.run(1)
    line.submit("hello", 3, kind="chat")
    assert line.running() == ["hello"]
    line.run(13)
    assert sorted(line.running()) == ["a0", "b0"]

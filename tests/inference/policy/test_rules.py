"""Each rule of docs/scheduler.md, on one seat in virtual time."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any, TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.inference.policy.timeline import Timeline
from uniun_bots.inference.policy.policy import Policy
from uniun_bots.inference.policy.ticket import Kind, Ticket

TraceFunction: TypeAlias = Callable[[FrameType, str, Any], Any]


@pytest.fixture
def line() -> Timeline:
    return Timeline(Policy())


TIERS: dict[str, dict[str, Any]] = {
    "chat": {"kind": "chat"},
    "foreground": {"foreground": True},
    "extract": {"kind": "extract"},
    "late": {"due": -1000.0},
    "pool": {},
}
PAIRS = [(low, high) for low in TIERS for high in TIERS if list(TIERS).index(low) < list(TIERS).index(high)]


# rules 1 and 2: the order of the tiers, and who gives way ---------------------------------------------


def test_the_lowest_tier_runs_first(line: Timeline) -> None:
    line.submit("first", 1, kind="switch", model="m")
    for name in reversed(TIERS):
        line.submit(name, 1, **TIERS[name])
    line.run(30)
    assert line.order() == ["first", *TIERS]


@pytest.mark.parametrize(("low", "high"), PAIRS)
def test_a_newcomer_of_a_lower_tier_makes_the_running_job_give_way(
    line: Timeline, low: str, high: str
) -> None:
    line.submit("before", 10, **TIERS[high])
    line.run(4)
    line.submit("newcomer", 1, **TIERS[low])
    assert line.running() == ["newcomer"]
    line.run(1 + 10 + 6)
    assert line.work("before").ended_at is not None
    assert line.work("before").times_started == 2


@pytest.mark.parametrize("tier", TIERS)
def test_an_equal_waits(line: Timeline, tier: str) -> None:
    line.submit("before", 10, **TIERS[tier])
    line.run(4)
    line.submit("newcomer", 1, **TIERS[tier])
    assert line.running() == ["before"]


def test_among_the_late_the_earliest_deadline_is_first(line: Timeline) -> None:
    line.submit("before", 1, foreground=True)
    for due in (-70.0, -90.0, -80.0):
        line.submit(f"due{due:.0f}", 1, due=due)
    line.run(4)
    assert line.order() == ["before", "due-90", "due-80", "due-70"]


def test_a_job_that_gave_way_comes_back_to_the_front_of_its_own_gana(line: Timeline) -> None:
    line.submit("a0", 10, owner="a")
    line.submit("a1", 10, owner="a")
    line.run(1)
    line.submit("hello", 1, kind="chat")
    line.run(40)
    assert line.order() == ["a0", "hello", "a0", "a1"]


def test_a_job_may_give_way_without_limit(line: Timeline) -> None:
    line.submit("a0", 100, owner="a")
    for _ in range(99):
        line.run(1)
        line.submit("b", 0.5, foreground=True)
        line.run(0.5)
    line.run(1)
    assert line.work("a0").times_started == 100
    assert line.work("a0").ended_at == 149.5


# rule 3: chat -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("tier", ["extract", "late", "pool"])
def test_while_a_chat_turn_is_open_no_background_work_starts(line: Timeline, tier: str) -> None:
    line.submit("before", 5, **TIERS[tier])
    line.run(1)
    line.chat_begins()
    assert line.running() == []
    line.submit("waits", 5, **TIERS[tier])
    line.run(100)
    assert line.running() == []
    line.chat_ends()
    line.run(9.9)
    assert line.running() == []
    line.run(0.1)
    assert line.running() == ["before"]


def test_what_is_in_the_foreground_runs_between_the_inferences_of_a_chat_turn(line: Timeline) -> None:
    line.chat_begins()
    line.submit("looked at", 5, foreground=True)
    assert line.running() == ["looked at"]


def test_an_idle_open_chat_blocks_nothing(line: Timeline) -> None:
    line.submit("hello", 1, kind="chat")
    line.run(11)
    line.submit("gana", 5)
    assert line.running() == ["gana"]


def test_two_chats_are_quiet_ten_seconds_after_the_last(line: Timeline) -> None:
    line.submit("gana", 5)
    line.submit("one", 1, kind="chat")
    line.submit("two", 1, kind="chat")
    line.run(11.9)
    assert line.running() == []
    line.run(0.1)
    assert line.running() == ["gana"]


# rule 4: switches -------------------------------------------------------------------------------------


def test_two_switches_run_in_order(line: Timeline) -> None:
    line.submit("gana", 5)
    line.submit("first", 3, kind="switch", model="x")
    line.submit("second", 3, kind="switch", model="y")
    line.run(11)
    assert line.order() == ["gana", "first", "second"]


def test_a_forced_switch_hurries_those_before_it(line: Timeline) -> None:
    line.submit("gana", 50)
    line.submit("gentle", 3, kind="switch", model="x")
    line.submit("forced", 3, kind="switch", model="y", forced=True)
    line.run(6)
    assert line.order() == ["gana", "gentle", "forced", "gana"]


def test_nothing_stops_a_switch_that_runs(line: Timeline) -> None:
    line.submit("first", 5, kind="switch", model="x")
    line.submit("second", 5, kind="switch", model="y", forced=True)
    line.submit("hello", 1, kind="chat", model="y")
    assert line.running() == ["first"]
    line.run(10)
    assert line.order() == ["first", "second", "hello"]


def test_a_gentle_switch_waits_for_an_open_chat_turn(line: Timeline) -> None:
    line.chat_begins()
    line.submit("switch", 5, kind="switch", model="x")
    line.submit("hello", 1, kind="chat")
    line.run(5)
    assert line.running() == []
    line.chat_ends()
    assert line.running() == ["switch"]


def test_a_gentle_switch_on_an_engine_with_slots_waits_until_all_are_free() -> None:
    line = Timeline(Policy(slots=2))
    line.submit("a", 10)
    line.submit("b", 20)
    line.submit("switch", 1, kind="switch", model="x")
    line.submit("c", 5)
    line.run(10)
    assert line.running() == ["b", "c"]
    line.submit("d", 5)
    line.run(10)
    assert line.running() == ["switch"], "d would have kept a slot when the switch could start"


def test_a_caller_that_goes_away_frees_the_switch_that_waits_for_it(line: Timeline) -> None:
    ticket = line.submit("gana", 50)
    line.submit("switch", 1, kind="switch", model="x")
    line.cancel(ticket)
    assert line.running() == ["switch"]


# rule 5: fair shares ----------------------------------------------------------------------------------


def test_time_that_was_cut_short_is_billed_too(line: Timeline) -> None:
    line.submit("a0", 100, owner="a")
    line.submit("b0", 30, owner="b")
    line.submit("b1", 30, owner="b")
    line.run(40)
    line.submit("look", 1, foreground=True)
    line.run(1 + 60)
    assert line.order() == ["a0", "look", "b0", "b1", "a0"]


def test_a_gana_with_many_jobs_gets_no_more_than_one_with_few(line: Timeline) -> None:
    for n in range(50):
        line.submit(f"a{n}", 10, owner="a")
    for n in range(5):
        line.submit(f"b{n}", 10, owner="b")
    line.run(100)
    assert (line.seconds_of("a"), line.seconds_of("b")) == (50, 50)


def test_a_gana_with_long_jobs_gets_no_more_time_than_one_with_short(line: Timeline) -> None:
    for n in range(20):
        line.submit(f"a{n}", 60, owner="a")
    for n in range(200):
        line.submit(f"b{n}", 6, owner="b")
    line.run(1200)
    assert abs(line.seconds_of("a") - line.seconds_of("b")) <= 60


def test_a_newcomer_starts_at_the_minimum(line: Timeline) -> None:
    for n in range(20):
        line.submit(f"a{n}", 10, owner="a")
        line.submit(f"b{n}", 10, owner="b")
    line.run(100)
    for n in range(20):
        line.submit(f"new{n}", 10, owner="new")
    line.run(90)
    assert line.seconds_of("new", 100) == 30, "its share, and nothing for the time before it came"


def test_one_that_was_away_for_five_minutes_owes_nothing_and_is_owed_nothing(line: Timeline) -> None:
    line.submit("a0", 100, owner="a")
    line.run(100)
    for n in range(100):
        line.submit(f"b{n}", 10, owner="b")
    line.run(300)
    for n in range(10):
        line.submit(f"a{n + 1}", 10, owner="a")
    line.run(60)
    assert line.seconds_of("a", 400, 460) == 30


def test_one_that_was_away_for_less_keeps_its_count(line: Timeline) -> None:
    line.submit("a0", 100, owner="a")
    line.submit("b0", 10, owner="b")
    line.run(110)
    for n in range(20):
        line.submit(f"b{n + 1}", 10, owner="b")
        line.submit(f"a{n + 1}", 10, owner="a")
    line.run(90)
    assert line.seconds_of("b", 110, 200) == 90


def test_a_gana_is_billed_for_what_ran_while_somebody_looked_at_it(line: Timeline) -> None:
    line.submit("a0", 100, owner="a")
    line.submit("b0", 50, owner="b")
    line.run(20)
    line.foreground("a")
    line.run(80)
    line.foreground(None)
    assert line.running() == ["b0"]
    line.submit("a1", 30, owner="a")
    line.submit("b1", 60, owner="b")
    line.run(50)
    assert line.running() == ["b1"]
    assert line.policy.queues.pool.runtimes() == {"a": 50, "b": 0}
    line.run(60)
    assert line.running() == ["a1"], "it owes the others no more than they waited for it"
    assert line.policy.spent == {"a": 100, "b": 110}


def test_a_newcomer_to_an_empty_pool_starts_where_the_last_one_left(line: Timeline) -> None:
    line.submit("a0", 100, owner="a")
    line.run(101)
    for n in range(4):
        line.submit(f"new{n}", 10, owner="new")
        line.submit(f"a{n + 1}", 10, owner="a")
    line.run(39)
    assert line.order() == ["a0", "new0", "a1", "new1", "a2"]


def test_the_turns_of_equals_stay_in_order_when_one_gave_way(line: Timeline) -> None:
    for n in range(3):
        for owner in "abc":
            line.submit(f"{owner}{n}", 10, owner=owner)
    line.run(4)
    line.submit("hello", 1, kind="chat")
    line.run(200)
    assert line.order() == ["a0", "hello", "b0", "c0", "a0", *("b1", "c1", "a1", "b2", "c2", "a2")]


def test_a_job_that_somebody_looks_at_is_at_the_cost_of_its_gana(line: Timeline) -> None:
    line.submit("waits", 50, owner="b")
    for n in range(3):
        line.submit(f"a{n}", 50, owner="a", foreground=True)
    line.run(150)
    line.submit("a", 50)
    assert line.running() == ["waits"]
    line.run(50)
    assert line.running() == ["a"]


def test_what_ran_in_the_foreground_while_nobody_waited_is_not_held_against_anyone(line: Timeline) -> None:
    line.submit("a0", 1000, owner="a", foreground=True)
    line.run(1000)
    for n in range(2):
        line.submit(f"b{n}", 10, owner="b")
        line.submit(f"a{n + 1}", 10, owner="a")
    line.run(39)
    assert line.order() == ["a0", "b0", "a1", "b1", "a2"]


# rule 6: extraction -----------------------------------------------------------------------------------


def test_extraction_has_the_engine_to_itself_when_nobody_waits(line: Timeline) -> None:
    for n in range(500):
        line.submit(f"note{n}", 2, kind="extract")
    line.run(900)
    assert line.seconds_of("extract") == 900


def test_extraction_that_had_its_share_gives_way_to_whoever_comes(line: Timeline) -> None:
    for n in range(500):
        line.submit(f"note{n}", 1000, kind="extract")
    line.run(600)
    line.submit("gana", 30)
    assert line.running() == ["gana"]
    line.run(30)
    assert line.running() == ["note0"]


@pytest.mark.parametrize("seed", range(4))
def test_extraction_never_has_more_than_its_share_while_others_wait(seed: int) -> None:
    source, line = random.Random(seed), Timeline(Policy())
    for n in range(200):
        line.submit(f"note{n}", source.choice([5, 10, 40]), kind="extract")
        line.submit(f"gana{n}", source.choice([1, 10, 40]), owner=source.choice("abc"))
    line.run(1200)
    for second in range(0, 900, 7):
        assert line.seconds_of("extract", second, second + 300) <= 180 + 1e-6
    assert line.seconds_of("extract") >= 0.55 * 1200, "and it gets nearly all of that"


def test_an_extraction_that_somebody_looks_at_is_part_of_the_share(line: Timeline) -> None:
    line.submit("waits", 1000)
    line.submit("opened", 180, kind="extract", foreground=True)
    line.run(180)
    line.submit("note", 10, kind="extract")
    assert line.running() == ["waits"]
    line.submit("opened too", 10, kind="extract", foreground=True)
    assert line.running() == ["opened too"], "a person is not made to wait for it"


# rule 7: the loaded model -----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["chat", "extract", "gana"])
@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("mno"), st.integers(1, 20)), max_size=60))
def test_the_loaded_model_delays_nobody_by_more_than_a_minute(
    kind: Kind, jobs: list[tuple[str, int]]
) -> None:
    """The delay of a job: how long those ran before it that came after it. A chat is never cut short."""
    line = Timeline(Policy())
    for n, (model, seconds) in enumerate(jobs):
        line.submit(str(n), seconds, kind=kind, model=model)
    line.run(3000)
    for n in range(len(jobs)):
        began = line.work(str(n)).began_at
        assert began is not None
        delay = sum(
            min(stretch.until, began) - stretch.since
            for stretch in line.stretches
            if int(stretch.name) > n and stretch.since < began
        )
        assert delay <= (60 + 20 if kind == "chat" else 60)


def test_a_swap_runs_all_that_waits_for_its_model(line: Timeline) -> None:
    for n in range(6):
        line.submit(f"{'mn'[n % 2]}{n}", 5, kind="extract", model="mn"[n % 2])
    line.run(30)
    assert line.order() == ["m0", "m2", "m4", "n1", "n3", "n5"]


def test_a_lower_tier_goes_before_the_loaded_model(line: Timeline) -> None:
    line.submit("a", 5, model="m")
    line.submit("b", 5, model="m")
    line.submit("note", 5, kind="extract", model="n")
    line.run(5)
    assert line.order()[:2] == ["a", "note"]


# rule 8: slots ----------------------------------------------------------------------------------------


def test_only_as_many_give_way_as_more_urgent_ones_came() -> None:
    line = Timeline(Policy(slots=3))
    for name in ("a", "b", "c"):
        line.submit(name, 100)
        line.run(1)
    line.submit("look", 10, foreground=True)
    assert line.running() == ["a", "b", "look"], "the one that began last had least to lose"
    line.submit("another", 10, foreground=True)
    assert line.running() == ["a", "look", "another"]


def test_one_model_at_a_time_also_on_an_engine_with_slots() -> None:
    line = Timeline(Policy(slots=2))
    line.submit("a", 10, model="m")
    line.submit("b", 5, model="n")
    assert line.running() == ["a"]
    line.run(10)
    assert line.running() == ["b"]


# rule 10: what a decision costs -----------------------------------------------------------------------


def lines_run(work: Callable[[], None]) -> int:
    """Of Python, each turn of a loop counted."""
    count, before = 0, sys.gettrace()

    def trace(frame: FrameType, event: str, _: object) -> TraceFunction:
        nonlocal count
        count += event == "line"
        return trace

    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


def busy(tier: str, tickets: int) -> Policy:
    """Of two models, ten of each Gana, and one of three with a deadline to come."""
    policy = Policy()
    for n in range(tickets):
        due = {"due": 1e6 + n} if n % 3 == 0 else {}
        policy.add(
            Ticket(**{"kind": "gana", "owner": f"gana{n // 10}", "model": "mn"[n % 2]} | due | TIERS[tier]),
            0.0,
        )
    policy.decide(0.0)
    return policy


@pytest.mark.parametrize("tier", TIERS)
def test_a_decision_among_a_hundred_times_as_many_costs_hardly_more(tier: str) -> None:
    def ten_jobs(policy: Policy) -> None:
        for second in range(1, 11):
            for ticket in tuple(policy.running):
                policy.ended(ticket, float(second))
            policy.add(Ticket("gana", "newcomer", "m"), float(second))
            policy.decide(float(second))
            policy.next_change(float(second))

    few, many = busy(tier, 50), busy(tier, 5000)
    assert lines_run(lambda: ten_jobs(many)) < 2 * lines_run(lambda: ten_jobs(few))

from __future__ import annotations

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from tests.factory import GROUP, MENTIONS, NOW
from tests.virtual_clock import VirtualClock
from uniun_bots.triggers.wakeups import MOST_DEBOUNCE_S, Wakeups

DEBOUNCE_S = 3.0


def due_times(clock: VirtualClock, wakeups: Wakeups, until: float) -> list[float]:
    """Let the clock go on, and take out whatever falls due, each at its time."""
    taken = []
    while (when := wakeups.next_at()) is not None and when <= until:
        clock.set(max(clock.now(), when))
        assert wakeups.pop_due() is not None
        taken.append(clock.now())
    clock.set(until)
    return taken


def test_a_note_is_taken_after_the_debounce() -> None:
    clock = VirtualClock()
    wakeups = Wakeups(clock)
    wakeups.by_notes("harbour", GROUP, DEBOUNCE_S)
    assert wakeups.pop_due() is None
    assert due_times(clock, wakeups, NOW + 100) == [NOW + 3]
    assert len(wakeups) == 0


def test_each_further_note_puts_it_off_until_fifteen_seconds_after_the_first() -> None:
    clock = VirtualClock()
    wakeups = Wakeups(clock)
    for second in range(0, 20, 2):
        taken = due_times(clock, wakeups, NOW + second)
        if taken:
            assert taken == [NOW + MOST_DEBOUNCE_S]
            return
        wakeups.by_notes("harbour", GROUP, DEBOUNCE_S)
    raise AssertionError("it was put off for good")


@given(gaps=st.lists(st.integers(0, 40), min_size=1, max_size=30), debounce=st.integers(0, 40))
def test_the_debounce_is_three_rules(gaps: list[int], debounce: int) -> None:
    """A dumb model: last note + debounce, no later than 15 s after the first, and then a new first one."""
    clock = VirtualClock()
    wakeups = Wakeups(clock)
    now, first, last = float(NOW), None, float(NOW)
    longest = max(15, debounce)
    taken: list[float] = []
    expected: list[float] = []
    for gap in [*gaps, 1000]:
        now += gap
        if first is not None and (due := min(last + debounce, first + longest)) <= now:
            expected.append(due)
            first = None
        taken += due_times(clock, wakeups, now)
        first, last = (now if first is None else first), now
        wakeups.by_notes("harbour", GROUP, debounce)
    assert taken == expected


def test_a_burst_is_one_wakeup() -> None:
    clock = VirtualClock()
    wakeups = Wakeups(clock)
    for _ in range(1000):
        wakeups.by_notes("harbour", GROUP, DEBOUNCE_S)
    assert len(wakeups) == 1
    assert due_times(clock, wakeups, NOW + 100) == [NOW + DEBOUNCE_S]


def test_what_waits_already_is_not_put_off_by_new_notes() -> None:
    """The rest of a busy channel, while every engine is at work: its notes had their debounce."""
    clock = VirtualClock()
    wakeups = Wakeups(clock)
    wakeups.not_later("harbour", GROUP, NOW)
    wakeups.by_notes("harbour", GROUP, DEBOUNCE_S)
    assert wakeups.pop_due() is not None


def test_notes_come_before_a_far_retry_and_have_their_debounce() -> None:
    clock = VirtualClock()
    wakeups = Wakeups(clock)
    wakeups.at("harbour", GROUP, NOW + 600)
    clock.set(NOW + 300)
    wakeups.by_notes("harbour", GROUP, DEBOUNCE_S)
    assert due_times(clock, wakeups, NOW + 1000) == [NOW + 303]


def test_the_one_that_is_due_for_longest_comes_first_and_equals_in_turn() -> None:
    clock = VirtualClock()
    wakeups = Wakeups(clock)
    for gana, after in (("late", 9), ("first", 5), ("second", 5), ("early", 1)):
        wakeups.at(gana, GROUP, NOW + after)
    clock.set(NOW + 5)
    taken = []
    while wakeup := wakeups.pop_due():
        taken.append(wakeup.gana)
    assert taken == ["early", "first", "second"]
    assert wakeups.next_at() == NOW + 9


def test_surfaces_ganas_and_timers_stand_beside_each_other() -> None:
    wakeups = Wakeups(VirtualClock())
    wakeups.by_notes("harbour", GROUP, 0)
    wakeups.by_notes("harbour", MENTIONS, 0)
    wakeups.by_notes("tide", GROUP, 0)
    wakeups.at("harbour", GROUP, NOW + 60, due=NOW + 60)
    assert len(wakeups) == 4
    assert wakeups.stands("harbour", GROUP) and wakeups.stands("tide", GROUP)
    assert not wakeups.stands("tide", MENTIONS)


def test_not_later_only_ever_makes_it_earlier() -> None:
    wakeups = Wakeups(VirtualClock())
    for after, stands in ((9, 9), (5, 5), (7, 5), (5, 5), (2, 2)):
        wakeups.not_later("harbour", GROUP, NOW + after)
        assert wakeups.next_at() == NOW + stands
    assert len(wakeups) == 1


def test_the_wakeups_of_a_gana_that_is_gone_are_dropped() -> None:
    clock = VirtualClock()
    wakeups = Wakeups(clock)
    wakeups.by_notes("harbour", GROUP, 0)
    wakeups.at("harbour", GROUP, NOW, due=NOW)
    wakeups.by_notes("tide", GROUP, 1)
    wakeups.drop("harbour")
    assert due_times(clock, wakeups, NOW + 10) == [NOW + 1]


async def test_next_waits_until_one_is_due() -> None:
    clock = VirtualClock()
    wakeups = Wakeups(clock)
    wakeups.at("harbour", GROUP, NOW + 5)
    waiting = asyncio.ensure_future(wakeups.next())
    await clock.advance(4.9)
    assert not waiting.done()
    await clock.advance(0.1)
    assert (await waiting).gana == "harbour"
    assert len(wakeups) == 0


async def test_next_hears_of_one_that_is_raised_while_it_waits() -> None:
    clock = VirtualClock()
    wakeups = Wakeups(clock)
    wakeups.at("late", GROUP, NOW + 500)
    waiting = asyncio.ensure_future(wakeups.next())
    await clock.advance(10)
    wakeups.by_notes("early", GROUP, DEBOUNCE_S)
    await clock.advance(DEBOUNCE_S)
    assert (await waiting).gana == "early"


async def test_next_follows_a_wakeup_that_is_put_off() -> None:
    clock = VirtualClock()
    wakeups = Wakeups(clock)
    wakeups.by_notes("harbour", GROUP, DEBOUNCE_S)
    waiting = asyncio.ensure_future(wakeups.next())
    await clock.advance(2)
    wakeups.by_notes("harbour", GROUP, DEBOUNCE_S)
    await clock.advance(2)
    assert not waiting.done()
    await clock.advance(1)
    assert (await waiting).at == NOW + 5

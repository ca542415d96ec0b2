from __future__ import annotations

import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uniun_bots.nostr.event import Event
from uniun_bots.nostr.filter import Filter
from uniun_bots.relays.ask import Answer
from uniun_bots.relays.page import Asking, page

T = 1_750_000_000


def stored(*times: int) -> list[Event]:
    return [Event(f"{n:064x}", "a", at, 1, (), f"m{n}", b"") for n, at in enumerate(times)]


def relay(events: list[Event], cap: int, silent_from: int | None = None) -> tuple[Asking, list[Filter]]:
    """The newest first, the lowest id first within a second (NIP-01), never more than `cap`."""
    asked: list[Filter] = []

    async def ask(wanted: Filter) -> Answer:
        asked.append(wanted)
        if silent_from is not None and len(asked) > silent_from:
            return Answer((), complete=False, reason="no EOSE within 10 s")
        found = sorted((e for e in events if wanted.matches(e)), key=lambda e: (-e.created_at, e.id))
        return Answer(tuple(found[: min(cap, wanted.limit or cap)]), complete=True)

    return ask, asked


@pytest.mark.parametrize("cap", [300, 1000])
async def test_the_whole_downtime_is_read_whatever_the_relay_gives_at_once(cap: int) -> None:
    """A13: 750 mentions, and a relay that gives 300 without saying that there are more."""
    events = stored(*(T + n // 2 for n in range(750)))
    ask, asked = relay(events, cap)
    found = await page(ask, Filter(kinds=(1,)), since=T - 10)
    assert found.complete
    assert found.ids == {event.id for event in events}
    assert len(asked) < 10


async def test_a_second_that_fits_a_page_is_read_whole() -> None:
    """A14 with a page of ten."""
    ask, _ = relay(stored(*[T] * 7), cap=10)
    assert len((await page(ask, Filter(kinds=(1,)), since=0)).ids) == 7


async def test_a_second_that_fits_no_page_is_told_and_passed(caplog: pytest.LogCaptureFixture) -> None:
    """A14 with a page of three: no REQ can bring the other four; never an endless loop."""
    ask, asked = relay(stored(*[T] * 7, T - 1), cap=3)
    with caplog.at_level(logging.WARNING):
        found = await page(ask, Filter(kinds=(1,)), since=0)
    assert found.complete
    assert len(found.ids) == 3 + 1
    assert "more events in second 1750000000 than the relay will page" in caplog.text
    assert len(asked) < 8


@pytest.mark.parametrize(("count", "told"), [(2, False), (25, True)])
async def test_a_few_in_one_second_with_nothing_before_them_are_no_crowd(
    caplog: pytest.LogCaptureFixture, count: int, told: bool
) -> None:
    """Every repair of a quiet relay ends like this."""
    ask, _ = relay(stored(*[T] * count), cap=500)
    with caplog.at_level(logging.WARNING):
        assert len((await page(ask, Filter(kinds=(1,)), since=0)).ids) == count
    assert ("than the relay will page" in caplog.text) is told


async def test_a_relay_that_falls_silent_in_the_middle_was_not_read() -> None:
    ask, _ = relay(stored(*range(T, T + 50)), cap=10, silent_from=2)
    found = await page(ask, Filter(kinds=(1,)), since=0)
    assert not found.complete
    assert "no EOSE" in found.reason


async def test_a_relay_that_ignores_the_window_does_not_hold_us() -> None:
    async def ask(_wanted: Filter) -> Answer:
        return Answer(tuple(stored(5, 6, 7)), complete=True)

    assert (await page(ask, Filter(kinds=(1,)), since=100)).complete


@given(st.lists(st.integers(T, T + 30), max_size=80), st.integers(20, 60))
async def test_every_event_is_seen_when_no_second_holds_more_than_a_page(times: list[int], cap: int) -> None:
    if any(times.count(at) >= cap for at in times):
        return
    events = stored(*times)
    ask, _ = relay(events, cap)
    found = await page(ask, Filter(kinds=(1,)), since=T)
    assert found.complete
    assert found.ids == {event.id for event in events}

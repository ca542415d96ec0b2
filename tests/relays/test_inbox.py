from __future__ import annotations

import asyncio

import pytest

from uniun_bots.nostr.event import Event
from uniun_bots.relays import inbox as room
from uniun_bots.relays.inbox import BATCH, Inbox


def event(n: int, raw: bytes = b"") -> Event:
    return Event(f"{n:064x}", "a", 0, 1, (), "", raw)


async def test_batches_are_bounded_and_in_order() -> None:
    inbox = Inbox()
    for n in range(BATCH + 5):
        inbox.put(event(n), "ws://a", 1.0)
    first, second = await inbox.take(), await inbox.take()
    assert (len(first), len(second)) == (BATCH, 5)
    assert [heard.event.id for heard in first + second] == [event(n).id for n in range(BATCH + 5)]


async def test_a_listener_that_is_cancelled_takes_nothing_with_it() -> None:
    inbox = Inbox()
    listening = asyncio.ensure_future(inbox.take())
    await asyncio.sleep(0)
    inbox.put(event(1), "ws://a", 1.0)
    listening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await listening
    assert len(await inbox.take()) == 1


async def test_each_further_relay_is_one_sighting() -> None:
    inbox = Inbox()
    assert [inbox.put(event(1), url, 1.0) for url in ("ws://a", "ws://b", "ws://b", "ws://a")] == [
        True,
        False,
        False,
        False,
    ]
    assert [one.relay for one in inbox.take_sightings()] == ["ws://b"]
    assert inbox.take_sightings() == []


async def test_memory_of_ids_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A19: a set of seen ids that only grows."""
    monkeypatch.setattr(room, "REMEMBERED", 10)
    inbox = Inbox()
    for n in range(100):
        inbox.put(event(n), "ws://a", 1.0)
    assert [n for n in range(100) if inbox.knows(event(n).id)] == list(range(90, 100))


async def test_a_full_inbox_stops_the_reading_until_it_is_half_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "FULL", 2 * BATCH)
    inbox = Inbox()
    for n in range(2 * BATCH):
        inbox.put(event(n), "ws://a", 1.0)
    waiting = asyncio.ensure_future(inbox.room())
    await asyncio.sleep(0)
    assert not waiting.done()
    await inbox.take()
    await inbox.take()
    await asyncio.wait_for(waiting, 1)


async def test_a_few_large_events_fill_it_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """A40."""
    monkeypatch.setattr(room, "BATCH", 1)
    monkeypatch.setattr(room, "FULL_BYTES", 4_000)
    inbox = Inbox()
    for n in range(4):
        inbox.put(event(n, raw=b"x" * 1_000), "ws://a", 1.0)
    waiting = asyncio.ensure_future(inbox.room())
    for _ in range(2):
        await asyncio.sleep(0)
        assert not waiting.done()
        await inbox.take()
    await asyncio.sleep(0)
    assert not waiting.done(), "half of it is still there"
    await inbox.take()
    await asyncio.wait_for(waiting, 1)


async def test_what_was_taken_is_dealt_with_when_its_taker_comes_back() -> None:
    inbox = Inbox()
    inbox.put(event(1), "ws://a", 1.0)
    waiting = asyncio.ensure_future(inbox.dealt_with())
    await inbox.take()
    await asyncio.sleep(0)
    assert not waiting.done()
    taking = asyncio.ensure_future(inbox.take())
    await waiting
    taking.cancel()

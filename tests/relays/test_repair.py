"""What was missed is fetched, whatever made us miss it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from nostr_sdk import Event as SdkEvent
from nostr_sdk import Keys

from tests.relays.conftest import hear, note, raw, until
from tests.relays.puppet import Puppet, Say, empty
from uniun_bots.clock import WallClock
from uniun_bots.host.running import CATCH_UP_S
from uniun_bots.nostr.filter import Filter
from uniun_bots.personas.relay_set import RelayAddress
from uniun_bots.relays.fault_proxy import FaultProxy
from uniun_bots.relays.faults import Faults
from uniun_bots.relays.gateway import Gateway, nothing_known
from uniun_bots.relays.heard import Sighting
from uniun_bots.relays.interest import Interest
from uniun_bots.relays.local import LocalRelay
from uniun_bots.relays.marks import MemoryMarks, key_of
from uniun_bots.relays.options import GatewayOptions
from uniun_bots.relays.repair import KnownIds

NOTES = Filter(kinds=(1,))
T = 1_750_000_000


def gateway(
    *urls: str,
    known: KnownIds = nothing_known,
    marks: MemoryMarks | None = None,
    repair_every_s: float = 600.0,
    answer_timeout_s: float = 10.0,
) -> Gateway:
    options = GatewayOptions(
        relays=tuple(RelayAddress(url=url) for url in urls),
        repair_every_s=repair_every_s,
        answer_timeout_s=answer_timeout_s,
    )
    return Gateway(options, WallClock(), known, marks=marks)


async def fill(url: str, events: list[SdkEvent]) -> None:
    async with gateway(url) as writer:
        receipts = await asyncio.gather(*(writer.send(raw(event), [url], "") for event in events))
        assert all(receipt.fate.delivered for (receipt,) in receipts)


@asynccontextmanager
async def come_back(reader: Gateway) -> AsyncIterator[None]:
    """As one who kept what it took and waits for more."""
    waiting = asyncio.ensure_future(reader.hear())
    try:
        yield
    finally:
        waiting.cancel()


async def until_marked(marks: MemoryMarks, url: str, before: int = 2_000_000_000) -> None:
    async with asyncio.timeout(20):
        while (await marks.get(url, [key_of(NOTES)])).get(key_of(NOTES), before) >= before:
            await asyncio.sleep(0.01)


async def test_ten_missing_of_fifty_thousand_cost_at_most_a_hundred_events(
    relay: LocalRelay, keys: Keys
) -> None:
    """Of what the store is said to have, the relay holds 1,990; the comparison is over all 50,000 ids."""
    events = [note(keys, f"n{n}", at=T + n * 25) for n in range(2000)]
    missing = {event.id().to_hex() for event in events[::200]}
    have = [(f"{n:064x}", T + n) for n in range(1, 48_011)]
    have += [
        (event.id().to_hex(), T + n * 25)
        for n, event in enumerate(events)
        if event.id().to_hex() not in missing
    ]
    assert (len(missing), len(have)) == (10, 50_000)

    async def known(_filter: Filter, since: int) -> list[tuple[str, int]]:
        return [item for item in have if item[1] >= since]

    await fill(relay.url, events)
    async with FaultProxy(relay.url) as proxy, gateway(proxy.url, known=known) as reader:
        await reader.watch([Interest(NOTES, (proxy.url,), since=T)])
        heard = await hear(reader, 10, within_s=40)
        await until(lambda: reader.status()[0].repairs)
        assert {one.event.id for one in heard} == missing
        assert reader.status()[0].negentropy is True
        assert proxy.counts["down EVENT"] <= 100


async def test_a_relay_without_nip_77_is_read_in_pages(relay: LocalRelay, keys: Keys) -> None:
    """A13 over the wire: 120 events behind a relay that gives 25 at once and does not say so."""
    await fill(relay.url, [note(keys, f"n{n}", at=T + n // 3) for n in range(120)])
    async with FaultProxy(relay.url) as proxy:
        await proxy.set(Faults(no_negentropy=True, page=25))
        async with gateway(proxy.url) as reader:
            await reader.watch([Interest(NOTES, (proxy.url,), since=T)])
            assert len({one.event.id for one in await hear(reader, 120)}) == 120
            await until(lambda: reader.status()[0].repairs)
            assert reader.status()[0].negentropy is False


async def test_a_relay_that_is_silent_on_words_it_does_not_know_is_read_in_time_for_a_start() -> None:
    async def deaf_to_nip_77(frame: list[Any], say: Say) -> None:
        if not frame[0].startswith("NEG-"):
            await empty(frame, say)

    async with Puppet(deaf_to_nip_77) as puppet, gateway(puppet.url) as reader:
        await reader.watch([Interest(NOTES, (puppet.url,), since=0)])
        assert await reader.caught_up(CATCH_UP_S)
        assert reader.status()[0].negentropy is False


async def test_reading_lasts_until_what_is_wanted_by_now_was_read() -> None:
    second, go_on = asyncio.Event(), asyncio.Event()

    async def script(frame: list[Any], say: Say) -> None:
        stored = frame[0] == "REQ" and frame[2].get("limit") != 0
        if stored and frame[2]["kinds"] == [1] and not second.is_set():
            await reader.watch([Interest(Filter(kinds=(7,)), (puppet.url,), since=0)])
        elif stored and frame[2]["kinds"] == [7]:
            second.set()
            await go_on.wait()
        await empty(frame, say)

    async with Puppet(script) as puppet, gateway(puppet.url) as reader:
        await reader.watch([Interest(NOTES, (puppet.url,), since=0)])
        await second.wait()
        assert reader.status()[0].reading
        go_on.set()
        await until(lambda: not reader.status()[0].reading)


async def test_what_came_while_the_connection_was_cut_is_fetched(relay: LocalRelay, keys: Keys) -> None:
    async with FaultProxy(relay.url) as proxy, gateway(proxy.url) as reader:
        await reader.watch([Interest(NOTES, (proxy.url,), since=0)])
        await until(lambda: reader.status()[0].repairs)
        await proxy.set(Faults(refuse=True))
        await until(lambda: not reader.status()[0].connected)
        await fill(relay.url, [note(keys, f"n{n}") for n in range(150)])
        await proxy.set(Faults())
        assert len(await hear(reader, 150)) == 150


async def test_a_live_stream_that_loses_events_is_made_whole_in_time(relay: LocalRelay, keys: Keys) -> None:
    async with FaultProxy(relay.url, seed=3) as proxy, gateway(proxy.url, repair_every_s=0.5) as reader:
        await reader.watch([Interest(NOTES, (proxy.url,), since=0)])
        await until(lambda: reader.status()[0].repairs)
        await proxy.set(Faults(lose_live=0.5, duplicate=0.3, reorder=7))
        await fill(relay.url, [note(keys, f"n{n}") for n in range(60)])
        assert len(await hear(reader, 60)) == 60
        assert proxy.counts["lost"] > 10


async def test_a_mark_moves_only_after_that_relay_was_read_to_the_end(
    relay: LocalRelay, keys: Keys, caplog: pytest.LogCaptureFixture
) -> None:
    """A08, A16: one relay answers, one takes every REQ and says nothing, ever."""
    marks = MemoryMarks()
    caplog.set_level(logging.INFO)

    async def mute(_frame: list[object], _say: Say) -> None:
        return

    await fill(relay.url, [note(keys, "good morning", at=T)])
    async with (
        Puppet(mute) as silent,
        gateway(relay.url, silent.url, marks=marks, answer_timeout_s=0.5) as reader,
    ):
        await reader.watch([Interest(NOTES, (relay.url, silent.url), since=T - 5)])
        (heard,) = await hear(reader, 1)
        assert heard.relay == relay.url
        good = next(status for status in reader.status() if status.url == relay.url)
        await until(lambda: next(s for s in reader.status() if s.url == relay.url).repairs)
        await until(lambda: next(s for s in reader.status() if s.url == silent.url).unconfirmed)
        await until(lambda: caplog.text.count(f"unread {silent.url}") >= 2)
        assert good.unconfirmed == ()
        assert await marks.get(silent.url, [key_of(NOTES)]) == {}
        assert await marks.get(relay.url, [key_of(NOTES)]) == {}
        async with come_back(reader):
            await until_marked(marks, relay.url)
        assert await marks.get(silent.url, [key_of(NOTES)]) == {}


async def test_a_date_in_the_future_moves_no_mark(relay: LocalRelay, keys: Keys) -> None:
    """A15: an event stamped 2035, then honest ones; a gateway with the same marks still reads those."""
    marks, clock = MemoryMarks(), WallClock()
    await fill(relay.url, [note(keys, "see you in 2035", at=2_051_222_400)])
    async with gateway(relay.url, marks=marks) as first:
        await first.watch([Interest(NOTES, (relay.url,), since=T)])
        await hear(first, 1)
        async with come_back(first):
            await until_marked(marks, relay.url)
    assert (await marks.get(relay.url, [key_of(NOTES)]))[key_of(NOTES)] <= clock.now()
    await fill(relay.url, [note(keys, f"honest {n}") for n in range(5)])
    async with gateway(relay.url, marks=marks) as second:
        await second.watch([Interest(NOTES, (relay.url,), since=T)])
        contents = [one.event.content for one in await hear(second, 6)]
        assert sum(content.startswith("honest") for content in contents) == 5


async def test_a_poisoned_mark_is_told_and_not_believed(
    relay: LocalRelay, keys: Keys, caplog: pytest.LogCaptureFixture
) -> None:
    """A15: a mark of 2035 on disk would hide everything until then."""
    marks = MemoryMarks()
    await marks.set(relay.url, [key_of(NOTES)], 2_051_222_400)
    await fill(relay.url, [note(keys, "hello")])
    with caplog.at_level(logging.WARNING):
        async with gateway(relay.url, marks=marks) as reader:
            await reader.watch([Interest(NOTES, (relay.url,), since=T)])
            await hear(reader, 1)
            async with come_back(reader):
                await until_marked(marks, relay.url, before=2_051_222_400)
    assert "lies ahead of now" in caplog.text


async def test_a_mark_spares_the_relay_what_was_read_before(keys: Keys) -> None:
    marks = MemoryMarks()
    async with Puppet(empty) as puppet:
        await marks.set(puppet.url, [key_of(NOTES)], T + 10_000)
        async with gateway(puppet.url, marks=marks) as reader:
            await reader.watch([Interest(NOTES, (puppet.url,), since=T)])
            await until(lambda: reader.status()[0].repairs)
        asked = [frame[2] for frame in puppet.words("REQ") if "until" not in frame[2] and "since" in frame[2]]
        assert {filters["since"] for filters in asked} == {T + 10_000 - GatewayOptions().overlap_s}


async def test_the_same_event_from_two_relays_is_heard_once_and_sighted(keys: Keys) -> None:
    """A19."""
    async with (
        LocalRelay() as one,
        LocalRelay() as two,
        gateway(one.url, two.url) as reader,
        gateway(one.url, two.url) as writer,
    ):
        await reader.watch([Interest(NOTES, (one.url, two.url), since=0)])
        await until(lambda: all(status.repairs for status in reader.status()))
        event = note(keys, "ping")
        await writer.send(raw(event), [one.url, two.url], "")
        (heard,) = await hear(reader, 1)
        sightings: list[Sighting] = []

        def sighted() -> bool:
            sightings.extend(reader.sightings())
            return bool(sightings)

        await until(sighted)
        assert {heard.relay, *(sighting.relay for sighting in sightings)} == {one.url, two.url}
        assert [sighting.event_id for sighting in sightings] == [event.id().to_hex()]
        await writer.send(raw(note(keys, "pong")), [two.url], "")
        assert [heard.event.content for heard in await hear(reader, 1)] == ["pong"]


async def test_two_relays_with_different_halves_give_the_whole(keys: Keys) -> None:
    async with LocalRelay() as one, LocalRelay() as two:
        await fill(one.url, [note(keys, f"a{n}") for n in range(20)])
        await fill(two.url, [note(keys, f"b{n}") for n in range(20)])
        async with gateway(one.url, two.url) as reader:
            await reader.watch([Interest(NOTES, (one.url, two.url), since=0)])
            assert len({heard.event.content for heard in await hear(reader, 40)}) == 40

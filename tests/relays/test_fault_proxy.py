"""Each fault, seen by a plain websocket client that knows nothing of us."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest
from nostr_sdk import Keys

from tests.relays.conftest import note
from uniun_bots.clock import monotonic
from uniun_bots.relays.fault_proxy import FaultProxy
from uniun_bots.relays.fault_script import FaultScript, Step
from uniun_bots.relays.faults import Faults
from uniun_bots.relays.local import LocalRelay

QUIET_S = 0.3


class Peer:
    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self.socket = socket

    async def say(self, *frame: Any) -> None:
        await self.socket.send_str(json.dumps(frame))

    async def next(self) -> Any:
        message = await self.socket.receive(timeout=5)
        return json.loads(message.data) if message.type is aiohttp.WSMsgType.TEXT else None

    async def until(self, kind: str) -> list[Any]:
        frames: list[Any] = []
        while not frames or frames[-1][0] != kind:
            frame = await self.next()
            assert frame is not None, frames
            frames.append(frame)
        return frames

    async def publish(self, *events: Any) -> list[Any]:
        for event in events:
            await self.say("EVENT", json.loads(event.as_json()))
        return [(await self.next())[2:] for _ in events]

    async def is_quiet(self) -> bool:
        try:
            await self.socket.receive(timeout=QUIET_S)
        except TimeoutError:
            return True
        return False


@asynccontextmanager
async def peer(url: str) -> AsyncIterator[Peer]:
    async with aiohttp.ClientSession() as http, http.ws_connect(url) as socket:
        yield Peer(socket)


@pytest.fixture
async def proxy(relay: LocalRelay) -> AsyncIterator[FaultProxy]:
    async with FaultProxy(relay.url, seed=1) as running:
        yield running


async def test_without_faults_every_word_passes(proxy: FaultProxy, keys: Keys) -> None:
    async with peer(proxy.url) as one:
        assert await one.publish(note(keys, "a")) == [[True, ""]]
        await one.say("REQ", "s", {"kinds": [1]})
        assert [frame[0] for frame in await one.until("EOSE")] == ["EVENT", "EOSE"]
        assert proxy.counts["down EVENT"] == 1


async def test_refused_connections_come_back_on_the_same_port(proxy: FaultProxy) -> None:
    async with peer(proxy.url) as one:
        await proxy.set(Faults(refuse=True))
        assert await one.next() is None
        with pytest.raises(aiohttp.ClientConnectorError):
            async with peer(proxy.url):
                pass
    await proxy.set(Faults())
    async with peer(proxy.url) as two:
        await two.say("REQ", "s", {})
        assert await two.next() == ["EOSE", "s"]


async def test_a_silent_connection_stays_open_and_says_nothing(proxy: FaultProxy) -> None:
    async with peer(proxy.url) as one:
        await proxy.set(Faults(silent=True))
        await one.say("REQ", "s", {})
        await one.socket.ping()
        assert await one.is_quiet()
        assert not one.socket.closed


async def test_events_are_duplicated_lost_and_capped(proxy: FaultProxy, keys: Keys) -> None:
    async with peer(proxy.url) as one:
        await one.publish(*(note(keys, f"n{n}") for n in range(20)))
        await proxy.set(Faults(duplicate=1))
        await one.say("REQ", "s", {"kinds": [1]})
        assert len(await one.until("EOSE")) == 41
        await proxy.set(Faults(page=3))
        await one.say("REQ", "p", {"kinds": [1]})
        assert len(await one.until("EOSE")) == 4
        await proxy.set(Faults(lose_live=1))
        await one.publish(note(keys, "lost"))
        assert await one.is_quiet()


async def test_delayed_words_come_late_and_not_one_after_the_other(proxy: FaultProxy, keys: Keys) -> None:
    """A slow way, not a narrow one."""
    async with peer(proxy.url) as one:
        await one.publish(*(note(keys, f"n{n}") for n in range(20)))
        await proxy.set(Faults(delay=0.5))
        began = monotonic()
        await one.say("REQ", "s", {"kinds": [1]})
        assert len(await one.until("EOSE")) == 21
        assert 0.5 <= monotonic() - began < 5


async def test_reordered_events_all_come(proxy: FaultProxy, keys: Keys) -> None:
    async with peer(proxy.url) as one:
        await one.publish(*(note(keys, f"n{n}", at=1_750_000_000 + n) for n in range(20)))
        await proxy.set(Faults(reorder=5))
        await one.say("REQ", "s", {"kinds": [1]})
        times = [frame[2]["created_at"] for frame in (await one.until("EOSE"))[:-1]]
        assert len(set(times)) == 20
        assert times != sorted(times, reverse=True)


async def test_a_reordered_event_with_no_other_behind_it_still_comes(proxy: FaultProxy, keys: Keys) -> None:
    async with peer(proxy.url) as one:
        await one.say("REQ", "s", {"kinds": [1]})
        await one.until("EOSE")
        await proxy.set(Faults(reorder=50))
        async with peer(proxy.url) as two:
            await two.publish(note(keys, "alone"))
        assert (await one.next())[0] == "EVENT"


async def test_it_lies_and_refuses(proxy: FaultProxy, keys: Keys) -> None:
    async with peer(proxy.url) as one:
        await proxy.set(Faults(lie=1))
        assert await one.publish(note(keys, "lost")) == [[True, ""]]
        await proxy.set(Faults(refuse_events="rate-limited: slow down"))
        assert await one.publish(note(keys, "refused")) == [[False, "rate-limited: slow down"]]
        await proxy.set(Faults(close_reqs="restricted: not you"))
        await one.say("REQ", "s", {})
        assert await one.next() == ["CLOSED", "s", "restricted: not you"]
        await proxy.set(Faults(no_negentropy=True))
        await one.say("NEG-OPEN", "n", {}, "61")
        assert (await one.next())[0] == "NOTICE"
        await proxy.set(Faults())
        await one.say("REQ", "t", {})
        assert await one.next() == ["EOSE", "t"]


async def test_a_share_of_events_is_refused(proxy: FaultProxy, keys: Keys) -> None:
    await proxy.set(Faults(refuse_events="error: not now", refuse_share=0.5))
    async with peer(proxy.url) as one:
        said = [taken for taken, _ in await one.publish(*(note(keys, f"n{n}") for n in range(30)))]
    assert 5 < sum(said) < 25


async def test_every_new_connection_is_told_the_notice(proxy: FaultProxy) -> None:
    await proxy.set(Faults(notice="be gentle"))
    for _ in range(2):
        async with peer(proxy.url) as one:
            assert await one.next() == ["NOTICE", "be gentle"]


async def test_a_cut_ends_the_connections_that_there_are_and_no_others(proxy: FaultProxy) -> None:
    async with peer(proxy.url) as one:
        await proxy.set(Faults(cut=True))
        assert await one.next() is None
    async with peer(proxy.url) as two:
        await two.say("REQ", "s", {})
        assert await two.next() == ["EOSE", "s"]


async def test_work_is_demanded_and_said_in_advance(proxy: FaultProxy, keys: Keys) -> None:
    await proxy.set(Faults(pow=40))
    url = proxy.url.replace("ws", "http", 1)
    async with aiohttp.ClientSession() as http, http.get(url) as answer:
        assert await answer.json() == {"limitation": {"min_pow_difficulty": 40}}
    async with peer(proxy.url) as one:
        ((accepted, reason),) = await one.publish(note(keys, "cheap"))
        assert (accepted, reason.split(":")[0]) == (False, "pow")
        await one.say("EVENT", "nonsense")
        await one.say("REQ", "s", {})
        assert (await one.until("EOSE"))[-1] == ["EOSE", "s"]


async def test_eose_can_be_kept_back(proxy: FaultProxy) -> None:
    async with peer(proxy.url) as one:
        await proxy.set(Faults(no_eose=True))
        await one.say("REQ", "s", {})
        assert await one.is_quiet()


async def test_a_login_is_demanded_and_checked(proxy: FaultProxy, keys: Keys) -> None:
    await proxy.set(Faults(auth=True))
    async with peer(proxy.url) as one:
        _, challenge = await one.next()
        await one.say("REQ", "s", {})
        assert (await one.next())[2].startswith("auth-required:")
        for given, good in (("wrong", False), (challenge, True)):
            tags = [["relay", proxy.url], ["challenge", given]]
            await one.say("AUTH", json.loads(note(keys, "", kind=22242, tags=tags).as_json()))
            assert (await one.next())[2] is good
        await one.say("REQ", "s", {})
        assert await one.next() == ["EOSE", "s"]


async def test_a_connection_is_cut_after_some_words(proxy: FaultProxy, keys: Keys) -> None:
    async with peer(proxy.url) as one:
        await one.publish(*(note(keys, f"n{n}") for n in range(5)))
    await proxy.set(Faults(cut_after=3))
    async with peer(proxy.url) as two:
        await two.say("REQ", "s", {"kinds": [1]})
        frames = [await two.next() for _ in range(4)]
        assert [frame is None for frame in frames] == [False, False, False, True]


async def test_a_script_is_followed_to_its_end(proxy: FaultProxy) -> None:
    steps = (Step(at=0, close_reqs="error: one"), Step(at=0.01, close_reqs="error: two"))
    async with asyncio.timeout(5):
        await proxy.follow(FaultScript(seed=1, steps=steps))
    async with peer(proxy.url) as one:
        await one.say("REQ", "s", {})
        assert await one.next() == ["CLOSED", "s", "error: two"]


async def test_a_script_that_repeats_begins_again(proxy: FaultProxy) -> None:
    steps = (Step(at=0, close_reqs="error: one"), Step(at=0.3, close_reqs="error: two"))
    following = asyncio.create_task(proxy.follow(FaultScript(seed=1, steps=steps, repeat=1)))
    async with peer(proxy.url) as one, asyncio.timeout(10):
        for words in ("error: two", "error: one"):
            said = ""
            while said != words:
                await one.say("REQ", "s", {})
                said = (await one.next())[2]
    following.cancel()

from __future__ import annotations

import asyncio

import pytest
from nostr_sdk import Keys

from tests.relays.conftest import hear, note, raw, until
from uniun_bots.clock import WallClock
from uniun_bots.errors import RelayError
from uniun_bots.nostr.filter import Filter
from uniun_bots.personas.relay_set import RelayAddress
from uniun_bots.relays.fault_proxy import FaultProxy
from uniun_bots.relays.faults import Faults
from uniun_bots.relays.gateway import Gateway
from uniun_bots.relays.interest import Interest
from uniun_bots.relays.local import LocalRelay, free_port
from uniun_bots.relays.options import GatewayOptions
from uniun_bots.relays.receipt import Fate

NOTES = Filter(kinds=(1,))


def gateway(*urls: str) -> Gateway:
    return Gateway(GatewayOptions(relays=tuple(RelayAddress(url=url) for url in urls)), WallClock())


async def test_stored_and_live_events_are_heard_once_each(relay: LocalRelay, keys: Keys) -> None:
    async with gateway(relay.url) as writer, gateway(relay.url) as reader:
        before, live = note(keys, "before"), note(keys, "live")
        await writer.send(raw(before), [relay.url], "")
        await reader.watch([Interest(NOTES, (relay.url,), since=0)])
        (first,) = await hear(reader, 1)
        await writer.send(raw(live), [relay.url], "")
        (second,) = await hear(reader, 1)
        assert [first.event.content, second.event.content] == ["before", "live"]
        assert first.relay == relay.url
        assert first.event.raw == raw(before)


async def test_a_stream_that_ends_by_itself_is_an_end_and_not_silence(relay: LocalRelay) -> None:
    """A55: nobody goes on as if it listened."""
    with pytest.raises(ExceptionGroup) as ended:
        async with gateway(relay.url) as reader:
            await reader._sessions[""]._client.shutdown()
            await asyncio.sleep(5)  # cancelled at once
    assert ended.group_contains(RelayError, match="by themselves")


async def test_each_relay_gives_its_own_receipt(relay: LocalRelay, keys: Keys) -> None:
    away = f"ws://127.0.0.1:{free_port()}"
    async with gateway(relay.url, away) as writer:
        event = note(keys, "hello")
        receipts = await writer.send(raw(event), [relay.url, away, "not a relay"], "")
        assert [receipt.fate for receipt in receipts] == [Fate.ACCEPTED, Fate.UNREACHABLE, Fate.UNREACHABLE]
        assert "refused" in receipts[1].message
        assert {receipt.event_id for receipt in receipts} == {event.id().to_hex()}


async def test_what_we_send_does_not_come_back_as_news(relay: LocalRelay, keys: Keys) -> None:
    async with gateway(relay.url) as both, gateway(relay.url) as other:
        await both.watch([Interest(NOTES, (relay.url,), since=0)])
        await other.watch([Interest(NOTES, (relay.url,), since=0)])
        await both.send(raw(note(keys, "ours")), [relay.url], "")
        await hear(other, 1)
        await other.send(raw(note(keys, "theirs")), [relay.url], "")
        assert [heard.event.content for heard in await hear(both, 1)] == ["theirs"]


async def test_fetch_gives_what_matches_and_ends(relay: LocalRelay, keys: Keys) -> None:
    async with gateway(relay.url) as one:
        event = note(keys, "parent")
        await one.send(raw(event), [relay.url], "")
        found = await one.fetch([Filter(ids=(event.id().to_hex(),))], None, timeout_s=5)
        assert [event.content for event in found] == ["parent"]
        assert await one.fetch([Filter(ids=("0" * 64,))], [relay.url], timeout_s=5) == []


async def test_a_relay_that_is_away_holds_up_no_question_to_the_others(relay: LocalRelay, keys: Keys) -> None:
    away = f"ws://127.0.0.1:{free_port()}"
    async with gateway(relay.url, away) as one:
        event = note(keys, "parent")
        await one.send(raw(event), [relay.url, away], "")
        async with asyncio.timeout(5):
            found = await one.fetch([Filter(ids=(event.id().to_hex(),))], None, timeout_s=30)
        assert [event.content for event in found] == ["parent"]


async def test_a_question_waits_for_the_return_of_the_only_relay(relay: LocalRelay, keys: Keys) -> None:
    async with FaultProxy(relay.url) as proxy, gateway(proxy.url) as one, gateway(relay.url) as other:
        await other.send(raw(note(keys, "parent")), [relay.url], "")
        await until(lambda: one.status()[0].connected)
        await proxy.set(Faults(refuse=True))
        await until(lambda: not one.status()[0].connected)
        asking = asyncio.ensure_future(one.fetch([NOTES], None, timeout_s=20))
        await proxy.set(Faults())
        assert [event.content for event in await asking] == ["parent"]

"""The stand-in keeps to what the gateway promises."""

from __future__ import annotations

import pytest

from tests.factory import NOW, RELAY
from tests.virtual_clock import VirtualClock
from uniun_bots.nostr.event import Draft, Event
from uniun_bots.nostr.filter import Filter
from uniun_bots.nostr.secret import new_secret
from uniun_bots.nostr.signer import LocalSigner
from uniun_bots.relays.file_gateway import MOST_AT_ONCE, FileGateway
from uniun_bots.relays.interest import Interest
from uniun_bots.relays.receipt import Fate

SIGNER = LocalSigner(new_secret())
NOTES = Filter(kinds=(1,))


async def event(text: str = "hello", at: int = NOW, kind: int = 1) -> Event:
    return await SIGNER.sign(Draft(kind, text, (), at))


def wanting(*filters: Filter, since: int = NOW - 100) -> list[Interest]:
    return [Interest(one, (RELAY,), since) for one in filters]


@pytest.fixture
def gateway() -> FileGateway:
    return FileGateway(VirtualClock())


async def test_an_event_is_heard_once_however_often_it_is_played_and_wanted(gateway: FileGateway) -> None:
    one = await event()
    await gateway.watch(wanting(NOTES, Filter(authors=(SIGNER.public_key,))))
    gateway.play(one)
    gateway.play(one)
    (heard,) = await gateway.hear()
    assert (heard.event, heard.relay, heard.at) == (one, RELAY, NOW)
    await gateway.watch(wanting(NOTES))
    assert gateway.backlog() == 0


async def test_what_came_before_is_read_back_to_where_it_is_wanted(gateway: FileGateway) -> None:
    old, new = await event("old", NOW - 50), await event("new", NOW - 5)
    for one in (old, new):
        gateway.play(one)
    assert gateway.backlog() == 0
    await gateway.watch(wanting(NOTES, since=NOW - 10))
    assert [heard.event for heard in await gateway.hear()] == [new]
    assert {one.id for one in await gateway.fetch([NOTES])} == {old.id, new.id}


async def test_what_nobody_wants_is_not_heard(gateway: FileGateway) -> None:
    await gateway.watch(wanting(NOTES))
    gateway.play(await event(kind=7))
    assert gateway.backlog() == 0


async def test_what_is_sent_is_kept_once_and_is_no_news(gateway: FileGateway) -> None:
    one = await event()
    await gateway.watch(wanting(NOTES))
    first = await gateway.send(one.raw, [RELAY, "wss://two.example"], one.author)
    (again,) = await gateway.send(one.raw, [RELAY], one.author)
    assert [receipt.fate for receipt in (*first, again)] == [Fate.ACCEPTED, Fate.ACCEPTED, Fate.DUPLICATE]
    gateway.play(one)
    assert (gateway.sent, gateway.backlog()) == ([one], 0)
    assert await gateway.fetch_whole([Filter(ids=(one.id,))], RELAY) == [one]


async def test_a_burst_is_heard_in_parts(gateway: FileGateway) -> None:
    await gateway.watch(wanting(NOTES))
    for number in range(MOST_AT_ONCE + 3):
        gateway.play(await event(f"note {number}"))
    assert [len(await gateway.hear()) for _ in range(2)] == [MOST_AT_ONCE, 3]

"""Relays that will not have it: each answer still ends on the relay once, or is told as one that nobody took."""

from __future__ import annotations

import os

import pytest

from tests.flow.storm import Storm, until
from uniun_bots.nostr.signer import difficulty_of
from uniun_bots.relays.faults import Faults
from uniun_bots.relays.options import GatewayOptions

LONG = bool(os.environ.get("UNIUN_BOTS_FORCE"))
SOME = 100 if LONG else 15
pytestmark = [pytest.mark.force, pytest.mark.timeout(600 if LONG else 60)]


@pytest.mark.parametrize("words", ["rate-limited: slow down", "error: the database is busy"])
async def test_what_a_relay_refuses_for_now_it_gets_later(
    storm: Storm, seed: int, soon: None, words: str
) -> None:
    await storm.blow(Faults(refuse_events=words, refuse_share=0.3))
    async with storm.host():
        await storm.post(SOME)
        await storm.settle()
    assert not await storm.faults(), seed


async def test_without_an_ok_the_same_bytes_go_again(storm: Storm, seed: int, soon: None) -> None:
    await storm.blow(Faults(no_ok=True))
    async with storm.host():
        await storm.post(SOME)
        await until(lambda: not storm.ledger.undecided())
        await until(lambda: storm.proxies[0].counts["up EVENT"] > len(storm.ledger.unsent()))
        assert not await storm.published(storm.wires[0])
        await storm.blow(Faults())
        await storm.settle()
    assert not await storm.faults(), seed


async def test_a_relay_that_demands_a_login_is_read_and_written_with_one(storm: Storm, seed: int) -> None:
    await storm.blow(Faults(auth=True))
    storm.name_relays("auth: true")
    await storm.post(5)
    async with storm.host():
        await storm.post(SOME)
        await storm.settle()
        storm.proxies[0].cut()
        await storm.post(5)
        await storm.settle()
    assert not await storm.faults(), seed
    # Each once, and anew after the cut: who had nothing to say by then may be on the way still.
    assert storm.proxies[0].counts["up AUTH"] > len(storm.village.bots)


@pytest.mark.parametrize("told_by", ["the settings", "the relay"])
async def test_what_a_relay_wants_mined_is_mined(storm: Storm, seed: int, told_by: str) -> None:
    await storm.blow(Faults(pow=10))
    if told_by == "the settings":
        storm.name_relays("pow: 10")
    async with storm.host():
        await storm.post(SOME)
        await storm.settle()
    assert not await storm.faults(), seed
    published = await storm.published(storm.wires[0])
    assert published and all(difficulty_of(event_id) >= 10 for event_id in published)


@pytest.mark.parametrize(
    "words", ["blocked: not you", "restricted: pay first", "invalid: too good", "pow: 20"]
)
async def test_one_relay_that_never_takes_it_is_no_harm_to_the_other(
    two: Storm, seed: int, words: str
) -> None:
    await two.proxies[1].set(Faults(refuse_events=words))
    async with two.host(GatewayOptions()) as host:
        await two.post(SOME)
        await two.settle()
        assert host.house.counters["dead letters"] == 0
    taken, refused = [await two.published(wire) for wire in two.wires]
    assert taken and not refused
    # Each was offered once, and only once.
    assert two.proxies[1].counts["up EVENT"] == len(taken)
    with two.ledger.rows() as db:
        assert not db.execute("SELECT 1 FROM dead_letters").fetchall()
    assert not [fault for fault in two.ledger.faults(taken) if "was not delivered" not in fault], seed


async def test_what_nobody_takes_is_told_and_the_host_goes_on(storm: Storm, seed: int) -> None:
    await storm.blow(Faults(refuse_events="blocked: not you"))
    async with storm.host():
        await storm.post(SOME)
        await storm.settle()
        with storm.ledger.rows() as db:
            refused = {row[0]: row[1] for row in db.execute("SELECT event_id, gana FROM outbox")}
            letters = db.execute("SELECT key, gana FROM dead_letters WHERE kind = 'delivery'")
            assert refused and {row[0]: row[1] for row in letters} == refused
            assert all(refused.values())
        await storm.blow(Faults())
        await storm.post(SOME)
        await storm.settle()
    published = await storm.published(storm.wires[0])
    assert published and not published.keys() & refused.keys()


async def test_a_relay_that_lies_costs_the_other_nothing(two: Storm, seed: int) -> None:
    """It says OK and throws it away. Nothing is answered again for it, not even by the next start."""
    await two.proxies[1].set(Faults(lie=1))
    for _ in range(2):
        async with two.host():
            await two.post(SOME)
            await two.settle()
    honest, liar = [await two.published(wire) for wire in two.wires]
    assert honest and not liar
    assert not two.ledger.faults(honest), seed

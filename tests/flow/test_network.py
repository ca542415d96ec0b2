"""Whatever the network does, the end is the same: each input decided once, each answer on the relay once.

UNIUN_BOTS_FORCE=1 selects the long form, UNIUN_BOTS_SEED a seed that was printed before.
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
from pathlib import Path

import pytest
from nostr_sdk import Event as SdkEvent

from tests.flow.conftest import Tell
from tests.flow.storm import Storm, readers, until
from tests.force.nursery import Child, Nursery
from tests.force.village import GROUP, Village
from tests.force.wire import Wire
from tests.relays.conftest import note
from uniun_bots.clock import monotonic
from uniun_bots.relays.faults import Faults
from uniun_bots.relays.local import LocalRelay, free_port
from uniun_bots.relays.options import GatewayOptions

LONG = bool(os.environ.get("UNIUN_BOTS_FORCE"))
MANY = 200 if LONG else 30
pytestmark = [pytest.mark.force, pytest.mark.timeout(600 if LONG else 120)]

WEATHER = {
    "calm": Faults(),
    "duplicated": Faults(duplicate=0.5),
    "reordered": Faults(reorder=7),
    "delayed": Faults(delay=0.1),
    "delayed, duplicated and reordered": Faults(delay=0.05, duplicate=0.3, reorder=5),
    "without EOSE": Faults(no_eose=True, no_negentropy=True),
    "in short pages": Faults(page=15, no_negentropy=True),
    "live events lost": Faults(lose_live=0.5),
    "live events lost, without NIP-77": Faults(lose_live=0.5, no_negentropy=True),
    "cut again and again": Faults(cut_after=40),
}


@pytest.mark.parametrize("faults", WEATHER.values(), ids=WEATHER.keys())
async def test_the_end_is_the_same_in_any_weather(storm: Storm, seed: int, faults: Faults) -> None:
    await storm.blow(faults)
    await storm.post(10)
    async with storm.host():
        await storm.post(MANY)
        await storm.settle()
    assert not await storm.faults(), seed


async def test_a_relay_that_dies_and_comes_back_has_every_answer_once(tmp_path: Path, seed: int) -> None:
    """Killed in the middle of work, then again told to end; each time the same port and the same database."""
    port = free_port()
    async with Nursery(tmp_path) as nursery:
        relay = await start_relay(nursery, port, tmp_path / "relay")
        storm = Storm(Village(tmp_path / "bots", f"ws://127.0.0.1:{port}", seed), [])
        async with storm.host():
            for number in (signal.SIGKILL, signal.SIGTERM):
                async with Wire(storm.village.relay) as wire:
                    await storm.post(15, wire)
                relay.signal(number)
                assert await relay.ended(5)
                relay = await start_relay(nursery, port, tmp_path / "relay")
            async with Wire(storm.village.relay) as wire:
                await storm.post(15, wire)
                await storm.settle()
                storm.wires.append(wire)
                assert not await storm.faults(), seed


async def start_relay(nursery: Nursery, port: int, database: Path) -> Child:
    relay = await nursery.bear(["relay", "--port", str(port), "--db", str(database)], {})
    assert await relay.says("listening "), relay.said.read_text()
    return relay


async def test_a_socket_that_carries_nothing_is_given_up(storm: Storm, seed: int) -> None:
    """Half open: it looks connected. The host finds out by itself, before anything is closed."""
    async with storm.host() as host:
        await storm.post(10)
        await storm.settle()
        await storm.blow(Faults(silent=True))
        await storm.post(10)
        await until(lambda: not readers(host)[0].connected)
        assert "silent" in readers(host)[0].last_error
        await storm.post(10)
        await storm.blow(Faults())
        await storm.post(10)
        await storm.settle()
    assert not await storm.faults(), seed


async def test_two_relays_with_different_halves_are_one_conversation(two: Storm, seed: int) -> None:
    """Whatever relay an input came by, and if by both: decided once, and answered on both."""
    chance = random.Random(seed)
    await two.proxies[0].set(Faults(delay=0.1))
    async with two.host():
        for _ in range(MANY):
            await two.post(1, *chance.choice(([two.wires[0]], [two.wires[1]], two.wires)))
        await two.settle()
    assert not await two.faults(), seed
    first, second = [await two.published(wire) for wire in two.wires]
    assert first.keys() == second.keys() and len(first) >= MANY // 2


async def test_one_of_two_relays_away_holds_up_nothing(two: Storm, seed: int) -> None:
    async with two.host() as host:
        await two.proxies[1].set(Faults(refuse=True))
        await until(lambda: not all(one.connected for one in readers(host)))
        await two.post(10, two.wires[0])
        await until(lambda: not two.ledger.undecided())
        await two.post(10, two.wires[1])
        await two.proxies[1].set(Faults())
        await two.settle()
    assert not await two.faults(), seed


BURST = 5_000


async def test_a_burst_of_five_thousand_is_decided_to_the_last(tmp_path: Path, seed: int, tell: Tell) -> None:
    """With the default channel and intervals. Most come in a group; each of a user is a thread of its own."""
    async with LocalRelay() as relay, Wire(relay.url) as wire:
        storm = Storm(Village(tmp_path / "bots", relay.url, seed, latency=(0, 0)), [wire])
        burst = [burst_note(storm.village, number) for number in range(BURST)]
        async with storm.host(GatewayOptions()):
            began = monotonic()
            await wire.flood(burst)
            posted = monotonic() - began
            await storm.settle(90)
            tell(f"{BURST} events in {posted:.2f} s, decided and sent after {monotonic() - began:.1f} s")
        assert not await storm.faults(), seed


def burst_note(village: Village, number: int) -> SdkEvent:
    if number % 50 == 0:
        event, watching = note(village.people[0], f"Say {number}."), {"fan"}
    else:
        writer, tags = village.random.choice(village.people[:2]), [["e", GROUP, "", "root"]]
        event, watching = note(writer, f"Say {number}.", 42, tags=tags), {"teller", "second"}
    village.inputs[event.id().to_hex()] = frozenset(watching)
    return event


AWAY_S = 5.0
MISSED = 150


@pytest.mark.parametrize(
    ("away_s", "faults"),
    [(AWAY_S, Faults()), (AWAY_S if LONG else 0.5, Faults(no_negentropy=True))],
    ids=["with NIP-77", "in pages"],
)
async def test_what_came_while_the_host_was_down_is_decided(
    storm: Storm, seed: int, away_s: float, faults: Faults
) -> None:
    """Five seconds away, 150 inputs meanwhile."""
    await storm.blow(faults)
    async with storm.host():
        await storm.post(5)
        await storm.settle()
    for _ in range(MISSED):
        await asyncio.gather(storm.post(), asyncio.sleep(away_s / MISSED))  # they come over the whole time
    assert len(storm.ledger.undecided()) >= MISSED
    async with storm.host():
        await storm.settle()
    assert not await storm.faults(), seed


async def test_a_host_is_not_idle_before_a_slow_relay_told_what_was_missed(
    storm: Storm, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What `tick` ends by: one pass reads to the end, also where the start does not wait for it."""
    monkeypatch.setattr("uniun_bots.host.running.CATCH_UP_S", 0.0)
    async with storm.host():
        await storm.post(1)
        await storm.settle()
    await storm.post(10)
    await storm.blow(Faults(delay=0.5, no_negentropy=True))
    async with storm.host(GatewayOptions()) as host:
        assert await host.idle(30)
        assert not storm.ledger.undecided(), seed

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nostr_sdk import Keys

from tests.relays.conftest import note
from tests.relays.test_fault_proxy import Peer, peer
from uniun_bots.relays.local import LocalRelay
from uniun_bots.relays.negentropy import Negentropy

T = 1_750_000_000
Known = list[tuple[str, int]]


async def missing_at(one: Peer, known: Known) -> tuple[set[str], int]:
    """What the relay has beyond `known`, and the bytes that it took to find out."""
    ours, cost = Negentropy(known), 0
    word: bytes | None = ours.open()
    await one.say("NEG-OPEN", "n", {"kinds": [1]}, ours.open().hex())
    while word is not None:
        kind, _, message = await one.next()
        assert kind == "NEG-MSG"
        cost += len(message) // 2
        word = ours.answer(bytes.fromhex(message))
        if word is not None:
            await one.say("NEG-MSG", "n", word.hex())
    await one.say("NEG-CLOSE", "n")
    return set(ours.missing), cost


async def test_exactly_what_is_missing_is_found_with_a_relay_written_by_others(
    relay: LocalRelay, keys: Keys
) -> None:
    chance = random.Random(11)
    events = [note(keys, f"n{n}", at=T + n // 7) for n in range(400)]
    stored = {event.id().to_hex(): event.created_at().as_secs() for event in events}
    async with peer(relay.url) as one:
        await one.publish(*events)
        for share in (0.0, 0.02, 0.3, 0.9, 0.99, 1.0) * 4:
            have = {event_id: at for event_id, at in stored.items() if chance.random() < share}
            # What only we have is none of the relay's business, and must not confuse it.
            ours_alone = {f"{chance.getrandbits(256):064x}": T + chance.randrange(80) for _ in range(60)}
            found, _ = await missing_at(one, list((have | ours_alone).items()))
            assert found == stored.keys() - have.keys()


async def test_sets_that_are_alike_cost_hardly_a_word(relay: LocalRelay, keys: Keys) -> None:
    events = [note(keys, f"n{n}", at=T + n) for n in range(300)]
    async with peer(relay.url) as one:
        await one.publish(*events)
        found, cost = await missing_at(one, [(e.id().to_hex(), e.created_at().as_secs()) for e in events])
        assert (found, cost) == (set(), 1)


async def test_more_differences_than_fit_one_message_take_several(relay: LocalRelay, keys: Keys) -> None:
    events = [note(keys, f"n{n}", at=T + n) for n in range(50)]
    ours_alone = [(f"{n + 1:064x}", T + n % 6000) for n in range(30_000)]
    async with peer(relay.url) as one:
        await one.publish(*events)
        found, _ = await missing_at(one, ours_alone)
        assert found == {event.id().to_hex() for event in events}


@given(st.binary(max_size=200))
def test_rubbish_is_refused_and_nothing_else_happens(rubbish: bytes) -> None:
    ours = Negentropy([(f"{n + 1:064x}", T + n) for n in range(100)])
    try:
        ours.answer(b"\x61" + rubbish)
    except ValueError:
        assert True


@pytest.mark.parametrize("message", ["", "60", "62", "6100", "61000102", "610002ff", "61" + "ff" * 30])
def test_words_of_another_protocol_or_cut_short_are_told(message: str) -> None:
    with pytest.raises(ValueError, match="."):
        Negentropy([]).answer(bytes.fromhex(message))

from __future__ import annotations

import asyncio

import pytest
from nostr_sdk import ClientBuilder, Event, EventBuilder, Keys, Kind, NostrSdkError, uniffi_set_event_loop

from uniun_bots.relays.fast_border import speed_up


@pytest.fixture(autouse=True)
def loop_of_nobody_else() -> None:
    """A gateway of an earlier test has told the SDK which loop is the loop."""
    uniffi_set_event_loop(None)


def test_the_sdk_is_one_whose_writing_is_known() -> None:
    """A new version that writes otherwise is fast enough by itself, or wants this looked at."""
    assert speed_up()
    assert speed_up(), "once more changes nothing"


@pytest.mark.parametrize("text", ["", "a", "ä 語 🌊\n\x00", "long " * 20_000])
def test_what_goes_into_the_sdk_comes_out_the_same(text: str, keys: Keys) -> None:
    speed_up()
    event = EventBuilder(Kind(1), text).finalize(keys)
    again = Event.from_json(event.as_json())
    assert again.content() == text
    assert again.as_json() == event.as_json()


def test_what_is_there_is_had_without_a_turn_of_the_event_loop() -> None:
    """Each notification in a burst would else cost two."""

    async def begin_and_look() -> bool:
        client = ClientBuilder().build()
        stream = client.notifications()
        await client.shutdown()
        with pytest.raises(StopIteration) as ended:
            stream.next().send(None)
        return bool(ended.value.value.is_shutdown())

    speed_up()
    assert asyncio.run(begin_and_look())


def test_what_a_thread_of_the_sdk_has_to_say_wakes_who_waits() -> None:
    async def wait_for_the_end() -> bool:
        client = ClientBuilder().build()
        waiting = asyncio.create_task(client.notifications().next())
        await asyncio.sleep(0)
        assert not waiting.done()
        await asyncio.to_thread(asyncio.run, client.shutdown())
        return bool((await waiting).is_shutdown())

    speed_up()
    assert asyncio.run(wait_for_the_end())


def test_a_fault_of_the_sdk_is_still_told() -> None:
    speed_up()
    with pytest.raises(NostrSdkError):
        Event.from_json("{}")

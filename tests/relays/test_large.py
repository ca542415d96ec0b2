from __future__ import annotations

import json
from typing import Any

import pytest
from nostr_sdk import Event as SdkEvent
from nostr_sdk import Keys

from tests.relays.conftest import hear, note, raw
from tests.relays.puppet import Puppet, Say, Script
from tests.relays.test_gateway import NOTES, gateway
from uniun_bots.nostr.read import SIZE_CAP_BYTES
from uniun_bots.relays.interest import Interest


def gives(*events: SdkEvent) -> Script:
    async def script(frame: list[Any], say: Say) -> None:
        if frame[0] == "REQ":
            for event in events:
                await say("EVENT", frame[1], json.loads(raw(event)))
            await say("EOSE", frame[1])
        elif frame[0] == "NEG-OPEN":
            await say("NOTICE", "ERROR: bad msg: unknown cmd")

    return script


async def test_an_event_with_thousands_of_tags_is_heard(keys: Keys) -> None:
    """A40: the SDK drops more than 2,000 tags by itself."""
    big = note(keys, "x" * 200_000, tags=[["p", f"{n:064x}"] for n in range(5000)])
    async with Puppet(gives(big)) as relay, gateway(relay.url) as reader:
        await reader.watch([Interest(NOTES, (relay.url,), since=0)])
        (heard,) = await hear(reader, 1)
    assert (len(heard.event.tags), len(heard.event.content)) == (5000, 200_000)


async def test_an_event_above_the_size_cap_is_told_and_the_socket_stays_open(
    keys: Keys, caplog: pytest.LogCaptureFixture
) -> None:
    """A40."""
    caplog.set_level("INFO")
    huge, small = note(keys, "x" * SIZE_CAP_BYTES), note(keys, "small")
    async with Puppet(gives(huge, small)) as relay, gateway(relay.url) as reader:
        await reader.watch([Interest(NOTES, (relay.url,), since=0)])
        (heard,) = await hear(reader, 1)
        assert relay.connections == 1
    assert heard.event.content == "small"
    assert f"at most {SIZE_CAP_BYTES} are read" in caplog.text

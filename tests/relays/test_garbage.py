from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import pytest
from nostr_sdk import Keys

from tests.nostr.samples import SIGNED
from tests.relays.conftest import hear, note, raw
from tests.relays.puppet import Puppet, Raw, Say
from tests.relays.test_gateway import NOTES, gateway
from uniun_bots.relays.interest import Interest

GOOD = note(Keys.generate(), "good", at=1_750_000_000)
TEXT = raw(GOOD).decode()
AUTHOR, EVENT_ID, SIGNATURE = (json.loads(TEXT)[key] for key in ("pubkey", "id", "sig"))
TIMES = ("NaN", "1e400", "1750000000.0", "-5", "9" * 20, '"1750000000"', "true", "9" * 5000)
KINDS = ("true", "70000", "-1", "1.0")
NO_EVENTS: dict[str, list[str]] = {
    "changed or made up (A34)": [TEXT.replace('"good"', '"bad"'), TEXT.replace(SIGNATURE, "0" * 128)],
    "half a surrogate pair (A38)": [
        TEXT.replace('"good"', '"broken \\ud83d half"'),
        SIGNED["half a surrogate pair"],
    ],
    "an id in capitals (A28)": [TEXT.replace(EVENT_ID, EVENT_ID.upper())],
    "numbers that are none (A39)": [
        *(TEXT.replace("1750000000", time) for time in TIMES),
        *(TEXT.replace('"kind":1,', f'"kind":{kind},') for kind in KINDS),
    ],
    "nested deeply (A39)": ["[" * 100_000, TEXT.replace("[]", "[" * 5000 + "]" * 5000)],
    "other shapes": ["null", "[]", "{}", "5", '"event"', ""],
}
NO_WORDS = (
    "[" * 100_000, "{}", "null", "", "[]", '["EVENT"]', '["EVENT",5,6]', '["AUTH"]', '["NOPE",1]', '["OK","x"]',
    '["EOSE"]', '["CLOSED"]', '["NOTICE",5]', "\x00",
)  # fmt: skip


def relay_that_says(*before: str) -> Puppet:
    """In answer to a REQ, and then one good event."""

    async def script(frame: list[Any], say: Say) -> None:
        if frame[0] == "REQ":
            for words in before:
                await say(Raw(words.replace("SUB", frame[1])))
            await say("EVENT", frame[1], json.loads(TEXT))
            await say("EOSE", frame[1])
        elif frame[0] == "NEG-OPEN":
            await say("NOTICE", "ERROR: bad msg: unknown cmd")

    return Puppet(script)


async def heard_from(relay: Puppet, count: int) -> Iterable[str]:
    async with relay, gateway(relay.url) as reader:
        await reader.watch([Interest(NOTES, (relay.url,), since=0)])
        found = await hear(reader, count)
        assert relay.connections == 1
    return [heard.event.content for heard in found]


@pytest.mark.parametrize("events", NO_EVENTS.values(), ids=NO_EVENTS)
async def test_what_is_no_event_hides_no_other_and_costs_no_connection(events: list[str]) -> None:
    """A copy that is broken does not stand in the way of the true event with the same id either."""
    assert await heard_from(relay_that_says(*(f'["EVENT","SUB",{event}]' for event in events)), 1) == ["good"]


async def test_words_that_are_none_are_passed_over() -> None:
    assert await heard_from(relay_that_says(*NO_WORDS), 1) == ["good"]


async def test_an_event_is_the_same_in_every_spelling_of_its_text() -> None:
    """A36, A37: escapes of JSON, and control characters that count for the id."""
    events = [SIGNED[name] for name in ("every NIP-01 escape", "control characters")]
    spelled = [json.dumps(json.loads(event)) for event in events]
    found = await heard_from(relay_that_says(*(f'["EVENT","SUB",{one}]' for one in spelled)), 3)
    assert found == [*(json.loads(event)["content"] for event in events), "good"]

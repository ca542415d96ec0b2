from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st
from nostr_sdk import Event as SdkEvent
from nostr_sdk import Filter as SdkFilter

from tests.nostr.samples import ALICE, BOB, BOT, CHANNEL, FIRST, SECOND, SIGNED
from uniun_bots.nostr.filter import Filter
from uniun_bots.nostr.read import from_sdk

EVENTS = [
    SdkEvent.from_json(SIGNED[name]) for name in ("channel reply", "quote of the bot", "control characters")
]


def some(*values: str, least: int = 0) -> st.SearchStrategy[tuple[str, ...]]:
    return st.lists(st.sampled_from(values), min_size=least, max_size=2, unique=True).map(tuple)


moments = st.none() | st.sampled_from([1_749_999_999, 1_750_000_000, 1_750_000_001])
filters = st.builds(
    Filter,
    kinds=st.lists(st.sampled_from([1, 42]), max_size=2, unique=True).map(tuple),
    authors=some(ALICE, BOB),
    ids=some(EVENTS[0].id().to_hex(), EVENTS[1].id().to_hex()),
    tags=st.dictionaries(
        st.sampled_from(["e", "p", "q"]), some(CHANNEL, FIRST, SECOND, BOT, ALICE, least=1), max_size=2
    ).map(lambda found: tuple(found.items())),
    since=moments,
    until=moments,
)


@given(filters, st.sampled_from(EVENTS))
def test_a_filter_matches_as_the_sdk_does(asked: Filter, event: SdkEvent) -> None:
    theirs = SdkFilter.from_json(json.dumps(asked.as_json_object()))
    assert asked.matches(from_sdk(event)) == theirs.match_event(event)


def test_what_is_not_asked_does_not_stand_in_the_request() -> None:
    assert Filter().as_json_object() == {}
    assert Filter(kinds=(42,), tags=(("e", (CHANNEL,)),)).within(since=5, limit=10).as_json_object() == {
        "kinds": [42],
        "#e": [CHANNEL],
        "since": 5,
        "limit": 10,
    }

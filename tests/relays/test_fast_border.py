from __future__ import annotations

import pytest
from nostr_sdk import Event, EventBuilder, Keys, Kind

from uniun_bots.relays.fast_border import speed_up


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

"""Whatever the network does, the end is the same: each input decided once, each answer on the relay once.

UNIUN_BOTS_FORCE=1 selects the long form, UNIUN_BOTS_SEED a seed that was printed before.
"""

from __future__ import annotations

import os

import pytest

from tests.flow.storm import Storm
from uniun_bots.relays.faults import Faults

LONG = bool(os.environ.get("UNIUN_BOTS_FORCE"))
MANY = 200 if LONG else 30
pytestmark = [pytest.mark.force, pytest.mark.timeout(600 if LONG else 60)]

WEATHER = {
    "calm": Faults(),
    "duplicated": Faults(duplicate=0.5),
    "reordered": Faults(reorder=7),
    "delayed": Faults(delay=0.008),
    "delayed, duplicated and reordered": Faults(delay=0.005, duplicate=0.3, reorder=5),
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

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from uniun_bots.relays.backoff import LONGEST_S, SHORTEST_S, Backoff


@given(st.floats(0, 1e7), st.integers())
def test_a_wait_is_never_nothing_and_never_long(outage_s: float, seed: int) -> None:
    assert SHORTEST_S * 0.8 <= Backoff(random.Random(seed)).delay_s(outage_s) <= LONGEST_S * 1.2


@given(st.floats(0, 10), st.integers())
def test_a_relay_that_comes_back_soon_is_met_within_two_seconds(outage_s: float, seed: int) -> None:
    if outage_s <= 5:
        assert Backoff(random.Random(seed)).delay_s(outage_s) < 2.0


def test_ninety_seconds_away_cost_few_attempts_and_no_two_hosts_knock_together() -> None:
    """A02: growing, jittered and capped; never a hot loop, never the end."""
    knocks = [_knocks(seed) for seed in range(20)]
    assert all(10 <= len(times) <= 40 for times in knocks)
    assert all(times[-1] > 60 for times in knocks)
    assert len({round(times[5], 3) for times in knocks}) == len(knocks)


def _knocks(seed: int) -> list[float]:
    backoff, now, times = Backoff(random.Random(seed)), 0.0, []
    while now < 90:
        times.append(now)
        now += backoff.delay_s(now)
    return times

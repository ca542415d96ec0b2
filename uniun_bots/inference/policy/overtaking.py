"""How long the jobs of one tier were delayed by jobs that went before their turn."""

from __future__ import annotations

import heapq

from uniun_bots.inference.policy.ticket import Key


class Overtaking:
    """Seconds of those that ran early, by their place. Whoever waits behind that place was not overtaken by them.

    After `passed(key)` nobody waits before `key`, so what ran from there is forgotten: the total is then what the
    first in the line was delayed by, and nobody behind it was delayed by more.
    """

    def __init__(self) -> None:
        self.total_s = 0.0
        self._seconds: dict[Key, float] = {}
        self._places: list[Key] = []

    def __bool__(self) -> bool:
        return bool(self._places)

    def add(self, place: Key, seconds: float) -> None:
        if place not in self._seconds:
            heapq.heappush(self._places, place)
        self._seconds[place] = self._seconds.get(place, 0.0) + seconds
        self.total_s += seconds

    def passed(self, first: Key | None) -> None:
        """`first`: the place of the one who is now first in the line; None when nobody waits."""
        while self._places and (first is None or self._places[0] <= first):
            self.total_s -= self._seconds.pop(heapq.heappop(self._places))
        if not self._places:
            self.total_s = 0.0

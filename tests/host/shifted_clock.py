"""A clock of a whole host, which has to do with relays that keep real time."""

from __future__ import annotations

import asyncio

from uniun_bots.clock import WallClock


class ShiftedClock:
    """The wall clock, some seconds ahead; whoever sleeps looks again when it is moved."""

    def __init__(self) -> None:
        self._wall, self._ahead_s = WallClock(), 0.0
        self._moved: list[asyncio.Event] = []

    def now(self) -> float:
        return self._wall.now() + self._ahead_s

    def move(self, seconds: float) -> None:
        self._ahead_s += seconds
        for moved in self._moved:
            moved.set()

    async def sleep_until(self, when: float) -> None:
        moved = asyncio.Event()
        self._moved.append(moved)
        try:
            while (left := when - self.now()) > 0:
                moved.clear()
                try:
                    await asyncio.wait_for(moved.wait(), left)
                except TimeoutError:
                    continue
        finally:
            self._moved.remove(moved)

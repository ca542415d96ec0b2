"""A clock that moves when a test says so."""

from __future__ import annotations

import asyncio
import heapq
import itertools

from tests.factory import NOW

TURNS = 20
"""Passes of the event loop that whoever woke gets before time goes on."""


class VirtualClock:
    """`advance` stops at every time that somebody sleeps for, in order, and lets them run."""

    def __init__(self, now: float = NOW) -> None:
        self._now = now
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._order = itertools.count()

    def now(self) -> float:
        return self._now

    async def sleep_until(self, when: float) -> None:
        while when > self._now:
            waiting: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            heapq.heappush(self._sleepers, (when, next(self._order), waiting))
            await waiting

    async def advance(self, seconds: float) -> None:
        until = self._now + seconds
        await self.settle()
        while self._sleepers and self._sleepers[0][0] <= until:
            when, _, waiting = heapq.heappop(self._sleepers)
            if not waiting.done():
                self._now = max(self._now, when)
                waiting.set_result(None)
                await self.settle()
        self._now = until
        await self.settle()

    def set(self, now: float) -> None:
        """What a person who corrects the clock does; nobody wakes by it."""
        self._now = now

    async def settle(self) -> None:
        for _ in range(TURNS):
            await asyncio.sleep(0)

"""The only place that asks the time, so that tests and simulations can give it."""

from __future__ import annotations

import asyncio
import heapq
import itertools
import time
from collections.abc import Awaitable, Callable
from typing import Protocol


class Clock(Protocol):
    def now(self) -> float:
        """Seconds since the Unix epoch, with fractions."""
        ...

    async def sleep_until(self, when: float) -> None:
        """Return when now() >= when."""
        ...


class WallClock:
    def now(self) -> float:
        return time.time()  # noqa: TID251

    async def sleep_until(self, when: float) -> None:
        # A wall clock may be set back while we sleep: ask again, in steps that a change cannot stretch.
        while (left := when - self.now()) > 0:
            await asyncio.sleep(min(left, 60.0))


class VirtualClock:
    """Moves when it is told to. `advance` stops at every time that somebody sleeps for, in order, and lets them run."""

    TURNS = 20
    """Passes of the event loop that whoever woke gets before time goes on."""

    def __init__(self, now: float) -> None:
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

    async def sleep(self, seconds: float) -> None:
        await self.sleep_until(self._now + seconds)

    async def advance(self, seconds: float, settle: Callable[[], Awaitable[None]] | None = None) -> None:
        """`settle` returns when all that is to happen at this time has happened; without one, after a few turns."""
        until, settle = self._now + seconds, settle or self.settle
        await settle()
        while (when := self._next()) is not None and when <= until:
            self._now = max(self._now, when)
            self._wake()
            await settle()
        self._now = max(self._now, until)
        await settle()

    def set(self, now: float) -> None:
        """What a person who corrects the clock does; nobody wakes by it."""
        self._now = now

    def _next(self) -> float | None:
        """When the first who still sleeps wants to wake."""
        while self._sleepers and self._sleepers[0][2].done():
            heapq.heappop(self._sleepers)
        return self._sleepers[0][0] if self._sleepers else None

    def _wake(self) -> None:
        """Everybody whose time has come: one may wait for another."""
        while (when := self._next()) is not None and when <= self._now:
            heapq.heappop(self._sleepers)[2].set_result(None)

    async def settle(self) -> None:
        for _ in range(self.TURNS):
            await asyncio.sleep(0)


def monotonic() -> float:
    """Seconds for measuring how long something took; unrelated to the date."""
    return time.monotonic()

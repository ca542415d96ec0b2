"""The only place that asks the time, so that tests can give it."""

from __future__ import annotations

import asyncio
import time
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


def monotonic() -> float:
    """Seconds for measuring how long something took; unrelated to the date."""
    return time.monotonic()

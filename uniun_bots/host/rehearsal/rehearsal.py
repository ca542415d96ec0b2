"""A host whose time stands still until everything that is due is done, and then moves on as it is told."""

from __future__ import annotations

import asyncio

from uniun_bots.clock import VirtualClock
from uniun_bots.errors import UniunError
from uniun_bots.host.host import Host

PATIENCE_S = 900.0
"""Real time that a model may take for what is due at one moment."""
LOOK_AGAIN_S = 0.002


class StillBusy(UniunError):
    """Something did not come to an end at its moment of virtual time."""


class Rehearsal:
    """Around an open host on this clock."""

    def __init__(self, host: Host, clock: VirtualClock, patience_s: float = PATIENCE_S) -> None:
        self.host, self.clock = host, clock
        self._patience_s = patience_s

    async def settle(self) -> None:
        """Until nothing that is due now is left. Raises StillBusy."""
        await self.clock.settle()
        try:
            async with asyncio.timeout(self._patience_s):
                while not await self.host.loops.quiet():
                    await asyncio.sleep(LOOK_AGAIN_S)
        except TimeoutError:
            raise StillBusy(f"a run did not end within {self._patience_s:.0f} s") from None

    async def go_to(self, when: float) -> None:
        """Move time on, with a stop at every moment for which something waits. Never back."""
        await self.clock.advance(max(0.0, when - self.clock.now()), self.settle)

    async def play_out(self, until: float) -> None:
        """Let debounced notes, retries and timers come due, at most up to `until`."""
        await self.settle()
        while (at := self.host.house.wakeups.next_at()) is not None and at <= until:
            await self.go_to(at)

"""Keeps one link's reading complete: when to repair it, and what is wanted from it."""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Sequence

from uniun_bots.clock import monotonic
from uniun_bots.errors import UniunError
from uniun_bots.relays.interest import Interest
from uniun_bots.relays.link import Link
from uniun_bots.relays.merge import Merged, merge
from uniun_bots.relays.options import GatewayOptions
from uniun_bots.relays.relay_status import RelayStatus
from uniun_bots.relays.repair import Repaired, Tools, move_marks, repair

log = logging.getLogger(__name__)

FIRST_RETRY_S = 2.0


class Mender:
    def __init__(
        self,
        link: Link,
        tools: Tools,
        options: GatewayOptions,
        chance: random.Random,
    ) -> None:
        self.link = link
        self._tools, self._options, self._random = tools, options, chance
        self._wanted: list[Merged] = []
        self._repairs = 0
        self._repaired_at: float | None = None
        self._deep_at: float | None = None
        """Monotonic seconds of the last look all the way back."""
        self.whole = asyncio.Event()
        """Everything wanted now was read completely once."""
        self._tried = False
        """The first reading of what is wanted now has ended, to its end or not."""

    def want(self, interests: Sequence[Interest]) -> None:
        self._wanted = merge(interests)
        self._deep_at = None
        self.whole.clear()
        self._tried = False
        self.link.want([merged.filter for merged in self._wanted])
        self.link.torn.set()

    @property
    def wants(self) -> bool:
        return bool(self._wanted)

    def status(self) -> RelayStatus:
        link = self.link
        return RelayStatus(
            url=link.url,
            reader=link.reader,
            connected=link.up.is_set(),
            since=link.changed_at,
            attempts=link.attempts,
            last_error=link.last_error,
            last_notice=link.last_notice,
            reading=self.wants and not self._tried and not link.away,
            last_repair=self._repaired_at,
            repairs=self._repairs,
            negentropy=link.negentropy,
            refused=link.subscriptions.refused(),
            unconfirmed=link.unconfirmed(),
        )

    async def run(self) -> None:
        failures = 0
        while True:
            await self._torn(failures)
            await self.link.up.wait()
            await self.link.listening()
            self.link.torn.clear()
            wanted = self._wanted
            failures = 0 if await self._mended() else failures + 1
            self._tried = self._tried or wanted is self._wanted

    async def _torn(self, failures: int) -> None:
        """Wait for a reason: something was missed, the last try failed, or simply time went by."""
        every = self._options.repair_every_s * self._random.uniform(0.8, 1.2)
        patience = min(every, FIRST_RETRY_S * 2 ** min(failures - 1, 10)) if failures else every
        try:
            async with asyncio.timeout(patience):
                await self.link.torn.wait()
        except TimeoutError:
            return

    async def _mended(self) -> bool:
        try:
            return await self._repair()
        except UniunError as error:
            # A store that cannot be asked now: the relay is read again later.
            log.warning("unread %s: %s", self.link.url, error)
            return False

    async def _repair(self) -> bool:
        wanted = self._wanted
        if not wanted:
            return True
        deep = self._deep_at is None or monotonic() - self._deep_at > self._options.deep_repair_every_s
        # What was just missed comes first, the long look back after it.
        done = [await repair(self.link, merged, self._tools, deep=False) for merged in wanted]
        if not all(one.complete for one in done):
            return False
        # In pages it would bring everything again: only a comparison of ids is cheap enough.
        if deep and self.link.negentropy:
            for merged, one in zip(wanted, done, strict=True):
                if not await self._look_back(merged, one):
                    return False
        if wanted is not self._wanted:
            # Something else is wanted by now, and `want` has asked for the next repair.
            return True
        if deep:
            self._deep_at = monotonic()
        self._repairs += 1
        self.whole.set()
        self._repaired_at = self._tools.clock.now()
        await move_marks(self.link, done, self._tools)
        return True

    async def _look_back(self, merged: Merged, done: Repaired) -> bool:
        if done.since <= min(part.since for part in merged.parts):
            return True
        return (await repair(self.link, merged, self._tools, deep=True)).complete

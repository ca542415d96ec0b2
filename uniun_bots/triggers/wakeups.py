"""The wakeups that stand, ordered by when they may be taken."""

from __future__ import annotations

import asyncio
import heapq
import itertools

from uniun_bots.clock import Clock
from uniun_bots.triggers.wakeup import Wakeup

MOST_DEBOUNCE_S = 15.0
"""However fast notes follow each other, the first one waits no longer than this."""

_Key = tuple[str, str, bool]


class Wakeups:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._standing: dict[_Key, Wakeup] = {}
        self._heap: list[tuple[float, int, _Key]] = []
        """A time at or before that of each standing wakeup: one that was put off is found out when it comes up."""
        self._order = itertools.count()
        self._changed = asyncio.Event()

    def stands(self, gana: str, surface: str) -> bool:
        """Whether notes there wake this Gana already."""
        return (gana, surface, False) in self._standing

    def __len__(self) -> int:
        return len(self._standing)

    def by_notes(self, gana: str, surface: str, debounce_s: float) -> None:
        """Due = now + debounce, at most the first note + MOST_DEBOUNCE_S (or one debounce if that is longer).

        What is due before that for another reason, such as the rest of a busy surface, is not put off.
        """
        now = self._clock.now()
        stands = self._standing.get((gana, surface, False))
        if stands and stands.first_at is None and stands.at <= now + debounce_s:
            return
        first_at = now if stands is None or stands.first_at is None else stands.first_at
        at = min(now + debounce_s, first_at + max(MOST_DEBOUNCE_S, debounce_s))
        if stands is None or at != stands.at:
            self._put(Wakeup(gana, surface, at, None, first_at))

    def at(self, gana: str, surface: str, when: float, due: int | None = None) -> None:
        self._put(Wakeup(gana, surface, when, due))

    def not_later(self, gana: str, surface: str, when: float, due: int | None = None) -> None:
        """Like `at`, but an earlier standing wakeup stays."""
        stands = self._standing.get((gana, surface, due is not None))
        if stands is None or stands.at > when:
            self.at(gana, surface, when, due)

    def drop(self, gana: str) -> None:
        for key in [key for key in self._standing if key[0] == gana]:
            del self._standing[key]

    def next_at(self) -> float | None:
        self._settle_top()
        return self._heap[0][0] if self._heap else None

    def pop_due(self) -> Wakeup | None:
        """The wakeup that has been due for longest, taken out; None when none is due now."""
        self._settle_top()
        if not self._heap or self._heap[0][0] > self._clock.now():
            return None
        return self._standing.pop(heapq.heappop(self._heap)[2])

    async def next(self) -> Wakeup:
        """Wait for the next one that is due, and take it out."""
        while (wakeup := self.pop_due()) is None:
            await self.until_due()
        return wakeup

    async def until_due(self) -> None:
        """Return when one is due; the caller takes it out before it awaits anything else."""
        while (when := self.next_at()) is None or when > self._clock.now():
            self._changed.clear()
            if when is None:
                await self._changed.wait()
                continue
            waits = {
                asyncio.ensure_future(self._changed.wait()),
                asyncio.ensure_future(self._clock.sleep_until(when)),
            }
            try:
                await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for waiting in waits:
                    waiting.cancel()

    def _put(self, wakeup: Wakeup) -> None:
        key = _key(wakeup)
        stands = self._standing.get(key)
        self._standing[key] = wakeup
        if stands is None or wakeup.at < stands.at:
            heapq.heappush(self._heap, (wakeup.at, next(self._order), key))
            self._changed.set()

    def _settle_top(self) -> None:
        while self._heap:
            at, _, key = self._heap[0]
            stands = self._standing.get(key)
            if stands is None:
                heapq.heappop(self._heap)
            elif stands.at > at:
                heapq.heapreplace(self._heap, (stands.at, next(self._order), key))
            else:
                return


def _key(wakeup: Wakeup) -> _Key:
    return wakeup.gana, wakeup.surface, wakeup.due is not None

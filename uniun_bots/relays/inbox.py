"""What came off the sockets and waits to be kept; each event once, later copies as sightings."""

from __future__ import annotations

import asyncio
from collections import deque

from uniun_bots.nostr.event import Event
from uniun_bots.relays.heard import Heard, Sighting

BATCH = 512
FULL = 20_000
"""Events waiting here at which the sockets are read no further."""
FULL_BYTES = 64_000_000
"""The same for their bytes: a few large ones fill it too."""
REMEMBERED = 50_000
"""Ids; beyond it an old event may be handed out again, and the store drops it."""
SIGHTINGS = 50_000


class Inbox:
    def __init__(self) -> None:
        self._heard: deque[Heard] = deque()
        self._sightings: deque[Sighting] = deque(maxlen=SIGHTINGS)
        self._seen: dict[str, set[str]] = {}
        """By event id: the relays that carried it."""
        self._filled = asyncio.Event()
        self._drained = asyncio.Event()
        self._drained.set()
        self._waiting_bytes = 0
        self._put = self._handed_out = self._dealt_with = 0
        """Events so far."""
        self._came_back = asyncio.Event()

    def put(self, event: Event, relay: str, at: float) -> bool:
        """Whether the event was new."""
        if event.id in self._seen:
            self.sight(event.id, relay, at)
            return False
        self.remember(event.id, relay)
        self._heard.append(Heard(event, relay, at))
        self._put += 1
        self._waiting_bytes += len(event.raw)
        self._filled.set()
        if len(self._heard) >= FULL or self._waiting_bytes >= FULL_BYTES:
            self._drained.clear()
        return True

    def knows(self, event_id: str) -> bool:
        return event_id in self._seen

    def sight(self, event_id: str, relay: str, at: float) -> None:
        """A copy of an event that is known here; each relay counts once."""
        relays = self._seen[event_id]
        if relay not in relays:
            relays.add(relay)
            self._sightings.append(Sighting(event_id, relay, at))

    def remember(self, event_id: str, *relays: str) -> None:
        """From now on copies of this event are sightings."""
        self._seen.setdefault(event_id, set()).update(relays)
        if len(self._seen) > REMEMBERED:
            del self._seen[next(iter(self._seen))]

    def __len__(self) -> int:
        return len(self._heard)

    async def room(self) -> None:
        if not self._drained.is_set():
            await self._drained.wait()

    async def dealt_with(self) -> None:
        """Until everything put so far was taken and is in the store."""
        upto = self._put
        while self._dealt_with < upto:
            self._came_back.clear()
            await self._came_back.wait()

    async def take(self) -> list[Heard]:
        """The next 1 to BATCH events. A caller that is cancelled while it waits has taken nothing.

        Who comes for more has dealt with what it took before.
        """
        self._dealt_with = self._handed_out
        self._came_back.set()
        while not self._heard:
            self._filled.clear()
            await self._filled.wait()
        batch = [self._heard.popleft() for _ in range(min(BATCH, len(self._heard)))]
        self._handed_out += len(batch)
        self._waiting_bytes -= sum(len(heard.event.raw) for heard in batch)
        if len(self._heard) < FULL // 2 and self._waiting_bytes < FULL_BYTES // 2:
            self._drained.set()
        return batch

    def take_sightings(self) -> list[Sighting]:
        taken = list(self._sightings)
        self._sightings.clear()
        return taken

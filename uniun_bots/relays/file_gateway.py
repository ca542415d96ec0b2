"""A stand-in for the gateway whose relays hold recorded events, and to which nothing gets out. For simulations."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from types import TracebackType
from typing import Self

from uniun_bots.clock import Clock
from uniun_bots.nostr.event import Event
from uniun_bots.nostr.filter import Filter
from uniun_bots.nostr.read import read_event
from uniun_bots.nostr.signer import LocalSigner
from uniun_bots.personas.relay_set import RelayAddress
from uniun_bots.relays.heard import Heard, Sighting
from uniun_bots.relays.information import Information
from uniun_bots.relays.interest import Interest
from uniun_bots.relays.receipt import Fate, Receipt
from uniun_bots.relays.relay_status import RelayStatus

MOST_AT_ONCE = 512


class FileGateway:
    """All relays of it are one: `play` gives it an event, and whoever watches for it hears it, once."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._stored: dict[str, Event] = {}
        self._told: set[str] = set()
        self._interests: tuple[Interest, ...] = ()
        self._inbox: deque[Heard] = deque()
        self._came = asyncio.Event()
        self.sent: list[Event] = []
        """What was published, in order, each once."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._inbox.clear()

    def play(self, event: Event) -> None:
        """The relay has it from now on."""
        self._stored.setdefault(event.id, event)
        self._tell(event)

    async def watch(self, interests: Sequence[Interest]) -> None:
        self._interests = tuple(interests)
        for event in list(self._stored.values()):
            self._tell(event)

    def admit(self, addresses: Iterable[RelayAddress], signers: Mapping[str, LocalSigner]) -> None:
        """Every relay is known here, and none asks who comes."""

    async def caught_up(self, timeout_s: float) -> bool:
        return True

    def backlog(self) -> int:
        return len(self._inbox)

    async def hear(self) -> list[Heard]:
        while not self._inbox:
            self._came.clear()
            await self._came.wait()
        return [self._inbox.popleft() for _ in range(min(MOST_AT_ONCE, len(self._inbox)))]

    def sightings(self) -> list[Sighting]:
        return []

    async def send(self, raw: bytes, relays: Sequence[str], author: str) -> list[Receipt]:
        event = read_event(raw)
        # Its echo is no news.
        self._told.add(event.id)
        known = event.id in self._stored
        if not known:
            self._stored[event.id] = event
            self.sent.append(event)
        fate = Fate.DUPLICATE if known else Fate.ACCEPTED
        return [Receipt(event.id, url, fate, "", self._clock.now()) for url in relays]

    async def fetch(
        self, filters: Sequence[Filter], relays: Sequence[str] | None = None, timeout_s: float = 5.0
    ) -> list[Event]:
        return [event for event in self._stored.values() if any(one.matches(event) for one in filters)]

    async def fetch_whole(
        self, filters: Sequence[Filter], relay: str, timeout_s: float = 5.0
    ) -> list[Event] | None:
        return await self.fetch(filters)

    def status(self) -> list[RelayStatus]:
        return []

    async def information(self, url: str) -> Information | None:
        return None

    def _tell(self, event: Event) -> None:
        if event.id in self._told:
            return
        for interest in self._interests:
            if interest.filter.within(since=interest.since).matches(event):
                self._told.add(event.id)
                self._inbox.append(Heard(event, next(iter(interest.relays), ""), self._clock.now()))
                self._came.set()
                return

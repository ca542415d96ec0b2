"""One question to one relay and what came back."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from uniun_bots.nostr.event import Event


@dataclass(frozen=True, slots=True)
class Answer:
    events: tuple[Event, ...]
    complete: bool
    """The relay said EOSE: this is all it has, or all it gives at once."""
    reason: str = ""
    """Why it is not complete."""


class Ask:
    """A REQ under way. The deadline counts from the last word: a long answer is not a silent relay."""

    def __init__(self) -> None:
        self._events: dict[str, Event] = {}
        self._words = 0
        self._done: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    def add(self, event: Event) -> None:
        self._words += 1
        self._events[event.id] = event

    def end(self, reason: str = "") -> None:
        """Without a reason: by EOSE."""
        if not self._done.done():
            self._done.set_result(reason)

    async def answer(self, timeout_s: float) -> Answer:
        words = -1
        while not self._done.done() and words != self._words:
            words = self._words
            await asyncio.wait([self._done], timeout=timeout_s)
        reason = self._done.result() if self._done.done() else f"no EOSE within {timeout_s:g} s"
        return Answer(tuple(self._events.values()), complete=not reason, reason=reason)

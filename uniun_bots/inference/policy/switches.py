"""Model switches in the order they came."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator

from uniun_bots.inference.policy.ticket import Ticket


class Switches:
    def __init__(self) -> None:
        self._queue: deque[Ticket] = deque()

    def __len__(self) -> int:
        return len(self._queue)

    def __iter__(self) -> Iterator[Ticket]:
        return iter(self._queue)

    def add(self, switch: Ticket, running: Iterable[Ticket]) -> None:
        switch.waits_for = {ticket for ticket in running if ticket.kind != "switch"}
        self._queue.append(switch)

    def discard(self, switch: Ticket) -> None:
        self._queue.remove(switch)

    def ended(self, ticket: Ticket) -> None:
        """One that gave way comes back, so it has not ended; a switch that waits for it goes on waiting."""
        for switch in self._queue:
            switch.waits_for.discard(ticket)

    @property
    def forced(self) -> bool:
        """A forced one hurries those before it, since they run in order."""
        return any(switch.forced for switch in self._queue)

    def ready(self, *, chatting: bool) -> Ticket | None:
        """The first, when nothing has to end before it."""
        if not self._queue:
            return None
        first = self._queue[0]
        return first if self.forced or not (chatting or first.waits_for) else None

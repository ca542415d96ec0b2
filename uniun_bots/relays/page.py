"""Reading a window of a relay that answers in pages and does not say so."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from uniun_bots.nostr.filter import Filter
from uniun_bots.relays.ask import Answer

log = logging.getLogger(__name__)

PAGE = 500
SMALLEST_PAGE = 20
"""No relay is known that gives fewer at once."""
Asking = Callable[[Filter], Awaitable[Answer]]


@dataclass(frozen=True, slots=True)
class Paged:
    ids: frozenset[str]
    complete: bool
    reason: str = ""


async def page(ask: Asking, wanted: Filter, since: int) -> Paged:
    """Walk back from now to `since`, whatever number of events the relay gives at once.

    `until` includes its second (NIP-01) and a page may end in the middle of one: the same second is asked
    again, and only a page without anything new leads past it. More events in one second than the relay
    gives at once cannot be had by any REQ: that is told and passed over.
    """
    seen: set[str] = set()
    until: int | None = None
    crowd = 0
    """Events of the second above `until`, when the relay gave nothing but them."""
    while until is None or until >= since:
        answer = await ask(wanted.within(since=since, until=until, limit=PAGE))
        if not answer.complete:
            return Paged(frozenset(seen), complete=False, reason=answer.reason)
        times = {e.id: e.created_at for e in answer.events if _asked_for(e.created_at, since, until)}
        if until is not None and crowd > 1 and (times or crowd >= SMALLEST_PAGE):
            # With nothing older behind them, a few were simply all there was.
            log.warning(
                "maybe more events in second %d than the relay will page (it gave %d)", until + 1, crowd
            )
        if not times:
            break
        oldest, crowd = min(times.values()), 0
        if times.keys() <= seen:
            crowd = len(times) if set(times.values()) == {oldest} else 0
            oldest -= 1
        seen |= times.keys()
        until = oldest
    return Paged(frozenset(seen), complete=True)


def _asked_for(created_at: int, since: int, until: int | None) -> bool:
    # A relay that ignores the window must not lead us round in circles.
    return created_at >= since and (until is None or created_at <= until)

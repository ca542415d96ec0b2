"""Bringing in what one relay has and we have not, because live streams lose words."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from uniun_bots.clock import Clock
from uniun_bots.nostr.filter import Filter
from uniun_bots.relays.inbox import Inbox
from uniun_bots.relays.interest import Interest
from uniun_bots.relays.link import Link
from uniun_bots.relays.marks import Marks, key_of
from uniun_bots.relays.merge import Merged
from uniun_bots.relays.page import page
from uniun_bots.relays.reconcile import reconcile

log = logging.getLogger(__name__)

KnownIds = Callable[[Filter, int], Awaitable[list[tuple[str, int]]]]
"""(filter, since) -> ids and created_at of what the store has of it."""


@dataclass(frozen=True, slots=True)
class Tools:
    known: KnownIds
    marks: Marks
    inbox: Inbox
    clock: Clock
    overlap_s: int


@dataclass(frozen=True, slots=True)
class Repaired:
    complete: bool
    since: int
    began: int
    keys: tuple[str, ...]
    """Of the marks that may move to `began`."""


async def repair(link: Link, merged: Merged, tools: Tools, deep: bool) -> Repaired:
    """`deep` looks back as far as the interests go, for what a relay got long after it was written."""
    began = int(tools.clock.now())
    keys = {part: key_of(part.filter) for part in merged.parts}
    marks = await tools.marks.get(link.url, list(keys.values()))
    since = min(
        part.since if deep else _since(part, marks.get(key), began, tools) for part, key in keys.items()
    )
    complete = await _read_all(link, merged.filter, since, tools)
    return Repaired(complete, since, began, tuple(keys.values()) if link.up.is_set() else ())


async def move_marks(link: Link, done: Sequence[Repaired], tools: Tools) -> None:
    """To the second at which a complete reading began, once all of it is in the store.

    Earlier, a crash would leave a mark behind which events are missing.
    """
    await tools.inbox.dealt_with()
    for one in done:
        if one.complete:
            await tools.marks.set(link.url, one.keys, one.began)


def _since(part: Interest, mark: int | None, now: int, tools: Tools) -> int:
    if mark is None:
        return part.since
    if mark > now:
        # Nothing was read in the future: a clock was wrong then or is now.
        log.warning("the mark %d lies ahead of now (%d): reading from the start", mark, now)
        return part.since
    return max(part.since, mark - tools.overlap_s)


async def _read_all(link: Link, wanted: Filter, since: int, tools: Tools) -> bool:
    if link.negentropy is not False:
        known = await tools.known(wanted.within(since=since), since)
        if await reconcile(link, wanted.within(since=since), known):
            link.negentropy = True
            return True
        if not link.up.is_set():
            return False
        if link.negentropy is None:
            log.info("%s has no NIP-77: reading it in pages", link.url)
            link.negentropy = False
    found = await page(link.ask, wanted, since)
    if not found.complete:
        log.info("unread %s: %s", link.url, found.reason)
    return found.complete

"""Keeping what was heard, whatever the store or a single event does."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from uniun_bots.errors import StoreError
from uniun_bots.graph.keep import Kept, keep, keep_sightings
from uniun_bots.host.actions import pause
from uniun_bots.inputs.elsewhere import notice_elsewhere
from uniun_bots.relays.heard import Heard, Sighting

log = logging.getLogger("uniun_bots.flow")

FRESH_S = 60
"""A foreign event not older than this happens now, and is not read back from before."""
FIRST_PAUSE_S = 0.5
MOST_PAUSE_S = 30.0


async def keep_until_kept(
    heard: Sequence[Heard],
    keep: Callable[[Sequence[Heard]], Awaitable[None]],
    refuse: Callable[[Heard, Exception], None],
) -> None:
    """The SDK hands each event out once, so a batch that did not commit is tried until it does.

    A batch that breaks on one of its events is kept event by event, and that one is refused.
    """
    pause_s = FIRST_PAUSE_S
    while True:
        try:
            await keep(heard)
            return
        except StoreError as fault:
            log.error("keep: %d events wait for the store: %s", len(heard), fault)
            await asyncio.sleep(pause_s)
            pause_s = min(MOST_PAUSE_S, pause_s * 2)
        except Exception as fault:
            if len(heard) == 1:
                refuse(heard[0], fault)
                return
            for one in heard:
                await keep_until_kept([one], keep, refuse)
            return


@dataclass(frozen=True, slots=True)
class Foreign:
    """Events by our keys that this host did not send."""

    fresh: int
    ganas: tuple[str, ...]
    """Whose keys they are signed with."""


def keep_and_notice(
    tx: sqlite3.Connection,
    heard: Sequence[Heard],
    sightings: Iterable[Sighting],
    by_key: Mapping[str, Sequence[str]],
    now: float,
    *,
    pauses: bool,
) -> tuple[Kept, Foreign]:
    """One unit: the notes, and what an event by our own keys among them means. `by_key`: key to its Ganas."""
    kept = keep(tx, heard)
    keep_sightings(tx, sightings)
    foreign = notice_elsewhere(tx, kept.new, by_key, now)
    fresh = [by_key[event.author] for event in foreign if event.created_at >= now - FRESH_S]
    for names in fresh:
        log.warning("heard: an event by the key of %s that this host did not send", ", ".join(names))
        if pauses:
            pause(tx, names, "another client published with this key")
    ganas = {name for event in foreign for name in by_key[event.author]}
    return kept, Foreign(len(fresh), tuple(sorted(ganas)))

"""Publish profiles (kind 0, `bot: true`) and relay lists (kind 10002) of Ganas whose file has a `profile:` block.

What is there is read first and merged; an event that we did not write is never replaced. So a relay that did not
answer gets nothing yet: it is asked again when it is back.
"""

from __future__ import annotations

import asyncio
import json
import logging
import sqlite3
from collections.abc import Iterable, Mapping, Sequence

from uniun_bots.host.house import House
from uniun_bots.nostr.event import Draft, Event, Tag
from uniun_bots.nostr.filter import Filter
from uniun_bots.personas.gana import Mode, Profile
from uniun_bots.personas.hosted import HostedGana
from uniun_bots.publishing.outbox import add_relays, enqueue, sent_by_hand
from uniun_bots.publishing.pinned import Pinned

log = logging.getLogger(__name__)

READ_S = 5.0
MOST_AHEAD_S = 5
"""A newer version must be later than the one before, but relays refuse stamps too far ahead (NIP-01)."""

Found = Mapping[str, Sequence[Event]]
"""What each relay that answered has, by URL."""


async def publish_profiles(house: House) -> None:
    for hosted in list(house.roster.ganas.values()):
        if hosted.gana.profile and hosted.gana.mode is Mode.LIVE:
            await _publish(house, hosted, hosted.gana.profile)


async def _publish(house: House, hosted: HostedGana, profile: Profile) -> None:
    found = await _ask(house, hosted)
    ours = await house.store.read(lambda tx: sent_by_hand(tx, hosted.pubkey))
    known = [event for events in found.values() for event in events] + ours
    for draft in (profile_draft(profile, _newest(known, 0)), relay_list_draft(hosted)):
        before = _newest(known, draft.kind)
        if before and before.id not in {event.id for event in ours}:
            log.warning(
                "profile: kind %d of %s was written by another client and stays as it is",
                draft.kind,
                hosted.id,
            )
        elif before and (before.content, before.tags) == (draft.content, draft.tags):
            await _spread(house, before, found)
        elif found:
            await _replace(house, hosted, draft, before, tuple(found))


async def _ask(house: House, hosted: HostedGana) -> Found:
    wanted = [Filter(kinds=(kind,), authors=(hosted.pubkey,)) for kind in (0, 10002)]
    answers = await asyncio.gather(*(house.gateway.fetch_whole(wanted, url, READ_S) for url in hosted.writes))
    return {url: events for url, events in zip(hosted.writes, answers, strict=True) if events is not None}


async def _spread(house: House, event: Event, found: Found) -> None:
    """To relays that do not have it and were not asked to take it before."""
    lack = [url for url, events in found.items() if event.id not in {one.id for one in events}]
    await house.store.write(lambda tx: add_relays(tx, event.id, lack, house.clock.now()))
    _wake(house, lack)


async def _replace(
    house: House, hosted: HostedGana, draft: Draft, before: Event | None, relays: tuple[str, ...]
) -> None:
    now = int(house.clock.now())
    if before and before.created_at >= now + MOST_AHEAD_S:
        log.warning("profile: kind %d of %s is dated ahead; not replaced", draft.kind, hosted.id)
        return
    stamp = max(now, before.created_at + 1) if before else now
    signer = house.roster.signers[hosted.pubkey]
    event = await signer.sign(Draft(draft.kind, draft.content, draft.tags, stamp))

    def unit(tx: sqlite3.Connection) -> None:
        enqueue(tx, Pinned(event, relays, None), hosted.id, None, house.clock.now())

    await house.store.write(unit)
    _wake(house, relays)


def _wake(house: House, relays: Iterable[str]) -> None:
    for url in relays:
        if url in house.deliveries:
            house.deliveries[url].wake()


def profile_draft(profile: Profile, before: Event | None) -> Draft:
    """NIP-01 and NIP-24; fields that the file does not name stay as they were."""
    said: dict[str, object] = {}
    if before:
        try:
            read = json.loads(before.content)
            said = read if isinstance(read, dict) else {}
        except ValueError:
            said = {}
    said |= profile.model_dump(exclude_none=True) | {"bot": True}
    return Draft(0, json.dumps(said, ensure_ascii=False), before.tags if before else (), 0)


def relay_list_draft(hosted: HostedGana) -> Draft:
    """NIP-65."""
    tags: list[Tag] = []
    for url in dict.fromkeys((*hosted.reads, *hosted.writes)):
        marker = (
            ()
            if url in hosted.reads and url in hosted.writes
            else (("read",) if url in hosted.reads else ("write",))
        )
        tags.append(("r", url, *marker))
    return Draft(10002, "", tuple(tags), 0)


def _newest(events: list[Event], kind: int) -> Event | None:
    """The latest; of two in the same second the lower id."""
    of_kind = [event for event in events if event.kind == kind]
    return min(of_kind, key=lambda event: (-event.created_at, event.id), default=None)

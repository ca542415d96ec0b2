"""Publish profiles (kind 0, `bot: true`) and relay lists (kind 10002) of Ganas whose file has a `profile:` block.

What is there is read first and merged; an event that we did not write is never replaced.
"""

from __future__ import annotations

import json
import logging
import sqlite3

from uniun_bots.host.house import House
from uniun_bots.nostr.event import Draft, Event, Tag
from uniun_bots.nostr.filter import Filter
from uniun_bots.personas.gana import Mode, Profile
from uniun_bots.personas.hosted import HostedGana
from uniun_bots.publishing.outbox import enqueue
from uniun_bots.publishing.pinned import Pinned

log = logging.getLogger(__name__)

READ_S = 5.0
MOST_AHEAD_S = 5
"""A newer version must be later than the one before, but relays refuse stamps too far ahead (NIP-01)."""


async def publish_profiles(house: House) -> None:
    for hosted in list(house.roster.ganas.values()):
        if hosted.gana.profile and hosted.gana.mode is Mode.LIVE:
            await _publish(house, hosted, hosted.gana.profile)


async def _publish(house: House, hosted: HostedGana, profile: Profile) -> None:
    wanted = [Filter(kinds=(kind,), authors=(hosted.pubkey,)) for kind in (0, 10002)]
    found = await house.gateway.fetch(wanted, list(hosted.writes), READ_S)
    for draft in (profile_draft(profile, _newest(found, 0)), relay_list_draft(hosted)):
        before = _newest(found, draft.kind)
        now = int(house.clock.now())
        if before and not await house.store.read(lambda tx, b=before: _is_ours(tx, b.id)):  # type: ignore[misc]
            log.warning(
                "profile: kind %d of %s was written by another client and stays as it is",
                draft.kind,
                hosted.id,
            )
            continue
        if before and (before.content, before.tags) == (draft.content, draft.tags):
            continue
        if before and before.created_at >= now + MOST_AHEAD_S:
            log.warning("profile: kind %d of %s is dated ahead; not replaced", draft.kind, hosted.id)
            continue
        stamp = max(now, before.created_at + 1) if before else now
        signer = house.roster.signers[hosted.pubkey]
        event = await signer.sign(Draft(draft.kind, draft.content, draft.tags, stamp))
        pinned = Pinned(event, hosted.writes, None)
        await house.store.write(lambda tx, p=pinned: enqueue(tx, p, hosted.id, None, house.clock.now()))  # type: ignore[misc]
        for url in hosted.writes:
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


def _is_ours(tx: sqlite3.Connection, event_id: str) -> bool:
    return tx.execute("SELECT 1 FROM outbox WHERE event_id = ?", (event_id,)).fetchone() is not None

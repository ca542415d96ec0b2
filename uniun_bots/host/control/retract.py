"""Ask relays to delete what a run published (NIP-09)."""

from __future__ import annotations

import sqlite3

from uniun_bots.errors import NotFound
from uniun_bots.graph.keep import mark_deleted
from uniun_bots.host import actions
from uniun_bots.host.house import House
from uniun_bots.nostr.event import Draft
from uniun_bots.publishing.outbox import enqueue
from uniun_bots.publishing.pinned import Pinned

PERSON = ""
"""A retraction is a person's order: it goes out although its Gana may be paused."""


async def retract(house: House, run: int, reason: str) -> str:
    """The deletion's event id. Relays may refuse; `explain` tells what they said. Raises NotFound."""
    gana, event_id, relays = await house.store.read(lambda tx: actions.published_by(tx, run))
    hosted = house.roster.ganas.get(gana)
    if hosted is None:
        raise NotFound(f"{gana} is not hosted now: only its key can ask for a deletion")
    kind = "42" if hosted.gana.output.type == "group" else "1"
    draft = Draft(5, reason, (("e", event_id), ("k", kind)), int(house.clock.now()))
    event = await house.roster.signers[hosted.pubkey].sign(draft)

    def unit(tx: sqlite3.Connection) -> None:
        actions.stop_sending(tx, event_id)
        enqueue(tx, Pinned(event, tuple(relays), None), PERSON, run, house.clock.now())
        mark_deleted(tx, event_id)

    await house.store.write(unit)
    house.hand_over(relays)
    return event.id

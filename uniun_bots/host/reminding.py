"""Send the reminders that are due, each in one transaction with the note that it is done."""

from __future__ import annotations

import logging
import sqlite3

from uniun_bots.approvals.approval import Approval, State
from uniun_bots.approvals.queue import due_reminders, finish
from uniun_bots.errors import BadEvent
from uniun_bots.host.house import House
from uniun_bots.nostr.event import Event
from uniun_bots.nostr.letter import letter
from uniun_bots.personas.hosted import HostedGana
from uniun_bots.publishing.outbox import enqueue
from uniun_bots.publishing.pinned import Pinned

log = logging.getLogger("uniun_bots.flow")


async def remind(house: House) -> None:
    """Those of a Gana that is not hosted now wait until it is."""
    now = house.clock.now()
    for due in await house.store.read(lambda tx: due_reminders(tx, now)):
        hosted = house.roster.ganas.get(due.gana)
        if hosted and house.settings.owner:
            await _send(house, due, hosted, house.settings.owner)


async def _send(house: House, due: Approval, hosted: HostedGana, owner: str) -> None:
    now = house.clock.now()
    try:
        event = letter(house.roster.signers[hosted.pubkey], owner, due.text, now)
    except BadEvent as fault:
        why = str(fault)
        await house.store.write(lambda tx: finish(tx, due.number, State.FAILED, why))
        return
    if await house.store.write(lambda tx: _put_out(tx, due, hosted, event, now)):
        log.info("reminded: approval %d of %s as %s", due.number, due.gana, event.id)
        house.hand_over(hosted.writes)


def _put_out(tx: sqlite3.Connection, due: Approval, hosted: HostedGana, event: Event, now: float) -> bool:
    if not finish(tx, due.number, State.DONE, "sent to the owner as a private message", event.id):
        return False
    enqueue(tx, Pinned(event, hosted.writes, None), due.gana, due.run, now)
    return True

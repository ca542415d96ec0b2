"""Reminders that a person said yes to: each is sent when it is due, and written down as done in one transaction."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import Callable, Iterable

from uniun_bots.approvals.approval import Approval, State
from uniun_bots.approvals.queue import due_reminders, finish, next_reminder
from uniun_bots.errors import BadEvent
from uniun_bots.host.premises import Premises
from uniun_bots.nostr.event import Event
from uniun_bots.nostr.letter import letter
from uniun_bots.personas.hosted import HostedGana
from uniun_bots.publishing.outbox import enqueue
from uniun_bots.publishing.pinned import Pinned

log = logging.getLogger("uniun_bots.flow")

LOOK_AGAIN_S = 86_400.0


class Reminding:
    """Rows hold the reminders; this sends what is due and sleeps until the next one."""

    def __init__(self, premises: Premises, hand_over: Callable[[Iterable[str]], None]) -> None:
        self._at, self._hand_over = premises, hand_over
        self._news = asyncio.Event()
        self.busy = True
        """Until the first look is over, and whenever something may be due."""

    def look(self) -> None:
        """There is another reminder, or another roster."""
        self.busy = True
        self._news.set()

    async def step(self) -> None:
        self._news.clear()
        self.busy = True
        now = self._at.clock.now()
        for due in await self._at.store.read(lambda tx: due_reminders(tx, now)):
            await self._send(due)
        next_at = await self._at.store.read(lambda tx: next_reminder(tx, now))
        self.busy = self._news.is_set()
        await self._rest(now + LOOK_AGAIN_S if next_at is None else next_at)

    async def _rest(self, until: float) -> None:
        news = asyncio.ensure_future(self._news.wait())
        alarm = asyncio.ensure_future(self._at.clock.sleep_until(until))
        try:
            await asyncio.wait({news, alarm}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            news.cancel()
            alarm.cancel()

    async def _send(self, due: Approval) -> None:
        """Those of a Gana that is not hosted now, or without an owner, wait for a reload."""
        hosted, owner, now = (
            self._at.roster.ganas.get(due.gana),
            self._at.settings.owner,
            self._at.clock.now(),
        )
        if hosted is None or owner is None:
            return
        try:
            event = letter(self._at.roster.signers[hosted.pubkey], owner, due.text, now)
        except BadEvent as fault:
            why = str(fault)
            await self._at.store.write(lambda tx: finish(tx, due.number, State.FAILED, why))
            return
        if await self._at.store.write(lambda tx: _put_out(tx, due, hosted, event, now)):
            log.info("reminded: approval %d of %s as %s", due.number, due.gana, event.id)
            self._hand_over(hosted.writes)


def _put_out(tx: sqlite3.Connection, due: Approval, hosted: HostedGana, event: Event, now: float) -> bool:
    if not finish(tx, due.number, State.DONE, "sent to the owner as a private message", event.id):
        return False
    enqueue(tx, Pinned(event, hosted.writes, None), due.gana, due.run, now)
    return True

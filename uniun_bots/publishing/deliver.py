"""deliver: outbox rows -> one relay's OK, paced and retried. Nothing gets here before close committed.

One Delivery per relay, so that a silent relay holds up nobody else.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import Callable, Sequence
from typing import Protocol

from uniun_bots import failpoints
from uniun_bots.clock import Clock
from uniun_bots.database.store import Store
from uniun_bots.publishing.outbox import FIRST_RETRY_S, Parcel, due_parcels, hurry, next_due, record
from uniun_bots.relays.receipt import Fate, Receipt

log = logging.getLogger(__name__)

MOST_AT_ONCE = 64
MOST_PAUSE_S = 300.0


class Sender(Protocol):
    async def send(self, raw: bytes, relays: Sequence[str], author: str) -> list[Receipt]: ...


class Delivery:
    """Works through one relay's part of the outbox; `wake` it after a close and when the relay is back."""

    def __init__(
        self,
        relay: str,
        store: Store,
        sender: Sender,
        clock: Clock,
        given_up: Callable[[sqlite3.Connection, Sequence[str]], None],
        per_minute: int | None = None,
    ) -> None:
        """`given_up` is told, in the unit that writes it down, of events that no relay took."""
        self.relay = relay
        self._store, self._sender, self._clock, self._given_up = store, sender, clock, given_up
        self._gap_s = 60.0 / per_minute if per_minute else 0.0
        self._free_at = 0.0
        self._refusals = 0
        """Batches in a row of which the relay took nothing, because we are too fast."""
        self._most = 1 if per_minute else MOST_AT_ONCE
        self._flying: set[str] = set()
        """Events that wait for the relay's OK: several calls of `once` may run side by side."""
        self._taking = asyncio.Lock()
        self._changed = asyncio.Event()

    def wake(self) -> None:
        self._changed.set()

    async def hurry(self) -> None:
        """The relay is back: what waited because it was away goes now."""
        await self._store.write(lambda tx: hurry(tx, self.relay, self._clock.now()))
        self.wake()

    async def once(self) -> int:
        """Send what is due now; returns how many events were tried."""
        now = self._clock.now()
        if now < self._free_at:
            return 0
        parcels = await self._take(now)
        if not parcels:
            return 0
        try:
            await self._send(parcels)
        finally:
            self._flying.difference_update(parcel.event_id for parcel in parcels)
            self._changed.set()
        return len(parcels)

    async def _take(self, now: float) -> list[Parcel]:
        """Those that are due and not on their way; from here on they are."""
        async with self._taking:
            # As of before the reading: what was on its way then may be written down by now, and read as due still.
            flying = set(self._flying)
            most = self._most + len(flying)
            due = await self._store.read(lambda tx: due_parcels(tx, self.relay, now, most=most))
            parcels = [parcel for parcel in due if parcel.event_id not in flying][: self._most]
            if not parcels or now < self._free_at:
                return []
            self._free_at = now + self._gap_s
            self._flying.update(parcel.event_id for parcel in parcels)
            return parcels

    async def _send(self, parcels: Sequence[Parcel]) -> None:
        failpoints.hit("sending")
        answers = await asyncio.gather(
            *(self._sender.send(parcel.raw, [self.relay], parcel.author) for parcel in parcels)
        )
        failpoints.hit("sent")
        receipts = [receipt for answer in answers for receipt in answer]
        for receipt in receipts:
            _tell(receipt)
        self._find_pace(receipts)
        await self._store.write(lambda tx: self._write_down(tx, receipts))
        failpoints.hit("receipted")

    def _write_down(self, tx: sqlite3.Connection, receipts: Sequence[Receipt]) -> None:
        if dead := record(tx, receipts, self._clock.now()):
            self._given_up(tx, dead)

    async def wait(self) -> None:
        """Until something is due or `wake` is called."""
        self._changed.clear()
        due = await self._store.read(lambda tx: next_due(tx, self.relay, self._flying))
        if self._changed.is_set():
            return
        waits = {asyncio.ensure_future(self._changed.wait())}
        if due is not None:
            until = self._clock.sleep_until(max(due, self._free_at))
            waits.add(asyncio.ensure_future(until))  # type: ignore[arg-type]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for waiting in waits:
                waiting.cancel()

    def _find_pace(self, receipts: Sequence[Receipt]) -> None:
        """A batch that met the relay's limit counts once, however many of it were refused."""
        taken = sum(receipt.fate.delivered for receipt in receipts)
        if any(receipt.fate is Fate.RATE_LIMITED for receipt in receipts):
            self._refusals = 1 if taken else self._refusals + 1
            self._free_at = self._clock.now() + min(MOST_PAUSE_S, FIRST_RETRY_S * 2**self._refusals)
            self._most = max(1, taken)
        elif taken:
            self._refusals = 0
            self._most = 1 if self._gap_s else min(MOST_AT_ONCE, 2 * self._most)


def _tell(receipt: Receipt) -> None:
    if receipt.fate.delivered:
        log.info("sent: %s to %s (%s)", receipt.event_id, receipt.relay, receipt.fate)
    else:
        log.warning(
            "refused: %s by %s (%s: %s)", receipt.event_id, receipt.relay, receipt.fate, receipt.message
        )

"""Memories in the background: long notes become summaries when the model has nothing better to do."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence

from uniun_bots.errors import EngineError, EngineLost, PromptTooLong, SchemaRefused
from uniun_bots.graph import extractions
from uniun_bots.graph.extract import extract
from uniun_bots.graph.extractions import Waiting, put_off
from uniun_bots.graph.memories import remember
from uniun_bots.host.premises import Premises
from uniun_bots.personas.settings import DEFAULT_ENGINE, Switch

log = logging.getLogger("uniun_bots.flow")

LOOK_AGAIN_S = 600.0
"""Notes that came without a sign, such as our own and those of files, are found after this at the latest."""
NO_MODEL_RETRY_S = 30.0
OF_THE_NOTE = (EngineLost, PromptTooLong, SchemaRefused)
"""Faults that the same note may cause again and again."""
PAUSE_S = 1.0
"""Between two looks at the queue: notes may come by the thousand, and few of them are long."""


class Remembering:
    """Rows hold the queue; this only works it off, as many notes at a time as the engine has slots."""

    def __init__(self, premises: Premises) -> None:
        self._at = premises
        self._news = asyncio.Event()

    def look(self) -> None:
        """Notes came, or the settings changed."""
        self._news.set()

    @property
    def is_on(self) -> bool:
        return self._at.settings.memories is Switch.ON

    async def step(self) -> None:
        """Work off what is due, or rest until something may be."""
        self._news.clear()
        if not self.is_on:
            await self._news.wait()
            return
        waiting = await self._due()
        if waiting:
            await self._work_off(waiting)
        else:
            await self._rest(await self._at.store.read(extractions.next_due))

    async def _due(self) -> list[Waiting]:
        store, now = self._at.store, self._at.clock.now()
        if await store.read(extractions.unqueued):
            while await store.write(extractions.enqueue) == extractions.BATCH:
                pass
        slots = self._slots
        return await store.read(lambda tx: extractions.due(tx, now, slots))

    @property
    def _slots(self) -> int:
        status = next((one for one in self._at.scheduler.status() if one.name == DEFAULT_ENGINE), None)
        return status.slots if status else 1

    async def _work_off(self, waiting: Sequence[Waiting]) -> None:
        done = await asyncio.gather(*(self._one(one) for one in waiting))
        if not all(done):
            await self._at.clock.sleep_until(self._at.clock.now() + NO_MODEL_RETRY_S)

    async def _one(self, waiting: Waiting) -> bool:
        """False when there is no model for it now; then it lets others pass, and the try does not count."""
        note, store, clock, engine = (
            waiting.note,
            self._at.store,
            self._at.clock,
            self._at.engines[DEFAULT_ENGINE],
        )
        try:
            found = await extract(
                note, waiting.attempt, scheduler=self._at.scheduler, engine_name=DEFAULT_ENGINE, engine=engine
            )
        except EngineError as fault:
            counts, why = isinstance(fault, OF_THE_NOTE), str(fault)
            log.warning("memory: %s waits: %s", note.id, fault)
            await store.write(lambda tx: put_off(tx, waiting, why, clock.now(), counts=counts))
            return False
        if found.refused:
            log.info("memory: none of %s (try %d): %s", note.id, waiting.attempt, found.refused)
            await store.write(lambda tx: put_off(tx, waiting, found.refused, clock.now()))
        else:
            await store.write(lambda tx: remember(tx, note, found.text, found.model, clock.now()))
        return True

    async def _rest(self, next_due: float | None) -> None:
        now = self._at.clock.now()
        await self._at.clock.sleep_until(now + PAUSE_S)
        again = now + LOOK_AGAIN_S if next_due is None else min(next_due, now + LOOK_AGAIN_S)
        news = asyncio.ensure_future(self._news.wait())
        alarm = asyncio.ensure_future(self._at.clock.sleep_until(again))
        try:
            await asyncio.wait({news, alarm}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            news.cancel()
            alarm.cancel()

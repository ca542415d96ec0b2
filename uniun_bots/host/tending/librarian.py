"""Keeps the rows of Manas and drafts in line with the files while a host runs."""

from __future__ import annotations

import asyncio
import logging

from uniun_bots.clock import Clock
from uniun_bots.database.store import Store
from uniun_bots.graph.bring_manas import bring_manas
from uniun_bots.personas.draft_files import Look, look_at_draft_files, read_draft_files
from uniun_bots.personas.project import Project

log = logging.getLogger(__name__)

LOOK_EVERY_S = 20.0


class Librarian:
    """Files are read when the host starts, at each reload, and when a cheap look sees that one has changed."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store, self._clock = store, clock
        self._project: Project | None = None
        self._look: Look = frozenset()
        self._one_at_a_time = asyncio.Lock()

    async def bring(self, project: Project) -> None:
        async with self._one_at_a_time:
            # Before the reading: what is written meanwhile is seen by the next look.
            look = await asyncio.to_thread(look_at_draft_files, project.manas, project.manas_folder)
            files = await asyncio.to_thread(read_draft_files, project.manas, project.manas_folder)
            at = self._clock.now()
            drafts, changed = await self._store.write(lambda tx: bring_manas(tx, project.manas, files, at))
            self._project, self._look = project, look
        for fault in files.faults:
            log.error("draft left out: %s", fault)
        if drafts:
            log.info("drafts: %d new, %d changed, %d gone", drafts.new, drafts.changed, drafts.gone)
        if changed:
            log.info("Manas: %s name something else now", ", ".join(changed))

    async def step(self) -> None:
        await self._clock.sleep_until(self._clock.now() + LOOK_EVERY_S)
        await self.look_again()

    async def look_again(self) -> bool:
        """Whether a draft changed since the last look."""
        project = self._project
        if project is None:
            return False
        seen = await asyncio.to_thread(look_at_draft_files, project.manas, project.manas_folder)
        if seen == self._look:
            return False
        await self.bring(project)
        return True

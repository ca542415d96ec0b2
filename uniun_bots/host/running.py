"""A host that runs: what other rooms and the control socket may ask of it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from pathlib import Path

from uniun_bots.chat.shiv import Shiv
from uniun_bots.clock import Clock
from uniun_bots.context.packing import Costs
from uniun_bots.database.store import Store
from uniun_bots.graph.find import known_ids
from uniun_bots.host import actions
from uniun_bots.host.desk import Desk
from uniun_bots.host.house import House
from uniun_bots.host.identities import resolve_identities
from uniun_bots.host.knowledge import ids_named, knowledge_interests
from uniun_bots.host.loops import Loops
from uniun_bots.host.roster import Roster, enlist, interests
from uniun_bots.host.standings import bring_up
from uniun_bots.host.unspoken import unspoken
from uniun_bots.inputs.cursors import own_keys, surfaces_with_pending
from uniun_bots.inputs.enabled import Standing
from uniun_bots.nostr.secret import spelled_in, spells_a_secret
from uniun_bots.nostr.signer import LocalSigner
from uniun_bots.personas.keys import AskPassphrase
from uniun_bots.personas.project import Project
from uniun_bots.relays.door import Door
from uniun_bots.skills.library import Library
from uniun_bots.triggers.timetable import Entry, standing_entries
from uniun_bots.triggers.wakeup import TIMER

log = logging.getLogger(__name__)

CATCH_UP_S = 5.0
"""How long the start waits for relays to tell what was missed, our own replies included, before it answers."""


class Running:
    """What `Host` is once it is open."""

    folder: Path
    clock: Clock
    project: Project
    library: Library
    store: Store
    house: House
    loops: Loops
    _environ: Mapping[str, str]
    _ask_passphrase: AskPassphrase | None
    _read: Callable[[Path], tuple[Project, Library]]
    _chat_costs: Costs
    _chats_under_way: set[int | None]

    async def reload(self, catch_up: tuple[str, ...] = (), rearm: tuple[str, ...] = ()) -> None:
        """Read the folder again. A fault leaves everything as it was and is raised as ConfigError.

        `rearm`: Ganas that start anew although they are on already.
        """
        project, library = await asyncio.to_thread(self._read, self.folder)
        signers = await asyncio.to_thread(self._signers, project)
        roster = enlist(project, library, signers, unspoken(project, self._environ))
        await self.store.write(lambda tx: actions.turn_off(tx, rearm))
        standings, timers = await self._bring_up(project, roster, catch_up)
        for gone in self.house.roster.ganas.keys() - roster.ganas.keys():
            self.house.taking.forget(gone)
        self.project, self.library = project, library
        self.house.roster, self.house.settings = roster, project.settings
        self.house.remembering.look()
        self.house.reminding.look()
        gateway = self.house.gateway
        gateway.admit(roster.addresses.values(), roster.signers)
        await self.house.librarian.bring(project)
        await self._watch(standings)
        await self._wake_up(roster, standings, timers, gateway)
        log.info("reloaded: hosting %d Ganas", len(roster.ganas))

    async def wake_pending(self, ganas: tuple[str, ...]) -> None:
        """After a resume or a retry: look for what waits."""
        roster, now = self.house.roster, self.clock.now()
        for gana in ganas:
            hosted = roster.ganas.get(gana)
            if hosted and hosted.surface and hosted.gana.trigger.by_message:
                self.house.wakeups.not_later(gana, hosted.surface, now)
        for entry in await self.store.read(lambda tx: standing_entries(tx, ganas)):
            if entry.gana in roster.ganas and entry.due <= now:
                surface = roster.ganas[entry.gana].surface or TIMER
                self.house.wakeups.not_later(entry.gana, surface, now, entry.due)
        for delivery in self.house.deliveries.values():
            delivery.wake()

    def desk(self) -> Desk:
        """Where a person decides about approvals, by the roster and the settings of now."""
        house = self.house
        return Desk(
            store=self.store,
            clock=self.clock,
            roster=house.roster,
            settings=house.settings,
            finder=house.finder,
            environ=self._environ,
            hand_over=house.hand_over,
            remind=house.reminding.look,
        )

    def shiv(self) -> Shiv:
        """The owner's chat, with the skills and the settings of now."""
        house = self.house
        keys = [one.spellings for one in house.roster.signers.values()]
        return Shiv(
            store=self.store,
            scheduler=house.scheduler,
            engines=house.engines,
            search=house.search,
            clock=self.clock,
            library=self.library,
            is_secret=lambda text: spells_a_secret(text) or spelled_in(text, keys),
            costs=self._chat_costs,
            under_way=self._chats_under_way,
        )

    async def idle(self, timeout_s: float) -> bool:
        """Wait until nothing is due, under way or on its way to a relay; False when that took too long."""
        try:
            async with asyncio.timeout(timeout_s):
                while not await self.loops.quiet():
                    await asyncio.sleep(0.05)
        except TimeoutError:
            return False
        return True

    # steps that opening and reading again share -------------------------------------------------------

    def _signers(self, project: Project) -> dict[str, LocalSigner]:
        return resolve_identities(project, self._environ, self._ask_passphrase)

    async def _bring_up(
        self, project: Project, roster: Roster, catch_up: tuple[str, ...]
    ) -> tuple[dict[str, Standing], list[Entry]]:
        now = self.clock.now()
        return await self.store.write(lambda tx: bring_up(tx, project, roster, now, catch_up))

    async def _wake_up(
        self, roster: Roster, standings: Mapping[str, Standing], timers: list[Entry], gateway: Door
    ) -> None:
        """Wakeups are rows that any start can find again: whatever is pending, and the timetable."""
        self.loops.start_receiving(roster.relays())
        await gateway.caught_up(CATCH_UP_S)
        await self.loops.kept_up()
        await self.house.skill_watch.weigh()
        await self.house.match()
        watching = [(gana, surface) for surface, ganas in roster.watchers.items() for gana in ganas]
        own = own_keys(roster.by_key.keys())
        found = await self.store.read(lambda tx: surfaces_with_pending(tx, watching, own))
        for gana, surface in found:
            self.house.wakeups.not_later(gana, surface, self.clock.now())
        for entry in timers:
            surface = roster.ganas[entry.gana].surface or TIMER
            self.house.wakeups.at(entry.gana, surface, entry.due, entry.due)
        self.loops.start_answering()

    async def _watch(self, standings: Mapping[str, Standing]) -> None:
        """What is answered goes before what is only read."""
        project, roster = self.project, self.house.roster
        named = ids_named(project)
        known = await self.store.read(lambda tx: known_ids(tx, named))
        inputs = interests(roster, standings, self.clock.now())
        installed = await self.house.skill_watch.interests(project)
        await self.house.gateway.watch([*inputs, *installed, *knowledge_interests(project, roster, known)])

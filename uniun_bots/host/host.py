"""The host: opens everything in order, runs the loops of the flow, and closes everything again.

`async with Host("my-bots") as host: await host.wait()` hosts until `host.stop()`.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from types import TracebackType
from typing import Self

from uniun_bots.clock import Clock, WallClock
from uniun_bots.context.packing import Costs
from uniun_bots.database.store import FILE, Store
from uniun_bots.graph.vectors import Vectors
from uniun_bots.host.control.server import ControlServer
from uniun_bots.host.embedders import make_embedder
from uniun_bots.host.engines import make_engines
from uniun_bots.host.house import House
from uniun_bots.host.lease import lease
from uniun_bots.host.loops import Loops
from uniun_bots.host.model_files import model_faults
from uniun_bots.host.open_gateway import Connect, open_gateway
from uniun_bots.host.project_folder import load_to_host
from uniun_bots.host.roster import enlist
from uniun_bots.host.running import Running
from uniun_bots.host.unspoken import unspoken
from uniun_bots.inference.embed.embedder import Embedder
from uniun_bots.inference.engine import Engine
from uniun_bots.inference.policy.rules import Rules
from uniun_bots.inference.scheduler import Scheduler
from uniun_bots.journal.attempt import end_dead_attempts
from uniun_bots.personas.keys import AskPassphrase
from uniun_bots.personas.project import Project
from uniun_bots.relays.options import GatewayOptions
from uniun_bots.skills.library import Library
from uniun_bots.triggers.wakeups import Wakeups

log = logging.getLogger(__name__)


class Host(Running):
    """Raises ConfigError with every fault, HostRunning, StoreError when it is entered."""

    def __init__(
        self,
        folder: str | Path,
        *,
        clock: Clock | None = None,
        environ: Mapping[str, str] | None = None,
        ask_passphrase: AskPassphrase | None = None,
        engines: Mapping[str, Engine] | None = None,
        embedder: Embedder | None = None,
        debounce: bool = True,
        patience: GatewayOptions | None = None,
        defers_agentic: bool = False,
        read: Callable[[Path], tuple[Project, Library]] = load_to_host,
        connect: Connect = open_gateway,
    ) -> None:
        """`engines` and `embedder` replace those of host.yaml. Without `debounce` a wakeup is due at once.
        With `defers_agentic` agentic Ganas are not run: what they have to do stays pending.

        `patience` with relays: its deadlines and intervals; the relays and the proxy are those of the project.
        `read` and `connect` take the place of the folder's files and of the relays in a simulation.
        """
        self.folder = Path(folder)
        self.clock = clock or WallClock()
        self._environ = os.environ if environ is None else environ
        self._ask_passphrase = ask_passphrase
        self._given_engines = dict(engines or {})
        self._given_embedder = embedder
        self._debounce = debounce
        self._defers_agentic = defers_agentic
        self._patience = patience or GatewayOptions()
        self._read, self._connect = read, connect
        self._stop = asyncio.Event()
        self._chat_costs, self._chats_under_way = Costs(), set[int | None]()

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as stack:
            await self._open(stack)
            self._stack = stack.pop_all()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        log.info("stopping")
        await self._stack.__aexit__(kind, error, trace)

    async def wait(self) -> None:
        """Until `stop`."""
        await self._stop.wait()

    def stop(self) -> None:
        self._stop.set()

    # opening ------------------------------------------------------------------------------------------

    async def _open(self, stack: AsyncExitStack) -> None:
        self.project, self.library = await asyncio.to_thread(self._read, self.folder)
        stack.enter_context(lease(self.project.data_dir))
        signers = await asyncio.to_thread(self._signers, self.project)
        self.store = await stack.enter_async_context(Store(self.project.data_dir / FILE))
        roster = enlist(self.project, self.library, signers, unspoken(self.project, self._environ))
        await self.store.write(lambda tx: end_dead_attempts(tx, self.clock.now()))
        standings, timers = await self._bring_up(self.project, roster, ())
        engines = make_engines(self.project.settings, self.folder, self._environ) | self._given_engines
        await asyncio.to_thread(self._tell_of_models, self.project)
        for engine in engines.values():
            stack.push_async_callback(engine.aclose)
        vectors = self._vectors()
        if vectors is not None:
            stack.push_async_callback(vectors.aclose)
        rules = Rules(affinity_s=self.project.settings.affinity_s)
        scheduler = await stack.enter_async_context(Scheduler(engines, clock=self.clock, rules=rules))
        gateway = await stack.enter_async_context(
            self._connect(
                self.project.settings, roster, self.store, self.clock, self._came_back, self._patience
            )
        )
        self.house = House(
            store=self.store,
            gateway=gateway,
            scheduler=scheduler,
            engines=engines,
            wakeups=Wakeups(self.clock),
            clock=self.clock,
            settings=self.project.settings,
            roster=roster,
            vectors=vectors,
            debounce=self._debounce,
            defers_agentic=self._defers_agentic,
        )
        self.loops = await stack.enter_async_context(Loops(self.house))
        await self.house.librarian.bring(self.project)
        await self._watch(standings)
        await self._wake_up(roster, standings, timers, gateway)
        await stack.enter_async_context(ControlServer(self))
        log.info("hosting %d Ganas from %s", len(roster.ganas), self.folder)

    def _tell_of_models(self, project: Project) -> None:
        for fault in model_faults(project, but_for=self._given_engines):
            log.warning("no model: %s", fault)

    def _vectors(self) -> Vectors | None:
        settings = self.project.settings
        embedder = self._given_embedder or make_embedder(settings, self.folder, self._environ)
        return Vectors(self.store, embedder) if embedder else None

    def _came_back(self, relay: str) -> None:
        if hasattr(self, "loops"):
            self.loops.hurry(relay)

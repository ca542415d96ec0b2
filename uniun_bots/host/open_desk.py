"""A desk without a host: under the folder's lease, with the key and the relays of one Gana."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from uniun_bots.approvals.queue import waiting
from uniun_bots.clock import WallClock
from uniun_bots.database.store import FILE, Store
from uniun_bots.host.desk import Desk
from uniun_bots.host.finder import Finder
from uniun_bots.host.identities import resolve_identities
from uniun_bots.host.lease import lease
from uniun_bots.host.open_gateway import open_gateway
from uniun_bots.host.project_folder import load_folder
from uniun_bots.host.roster import enlist
from uniun_bots.host.unspoken import unspoken
from uniun_bots.personas.keys import AskPassphrase
from uniun_bots.relays.options import GatewayOptions


@asynccontextmanager
async def open_desk(
    folder: Path, number: int, environ: Mapping[str, str], ask_passphrase: AskPassphrase | None
) -> AsyncIterator[Desk]:
    """For this one approval. Raises ConfigError, HostRunning, NotFound and Settled."""
    project, library = await asyncio.to_thread(load_folder, folder)
    clock = WallClock()
    with lease(project.data_dir):
        async with Store(project.data_dir / FILE) as store:
            found = await store.read(lambda tx: waiting(tx, number))
            alone = replace(project, ganas=tuple(gana for gana in project.ganas if gana.id == found.gana))
            signers = await asyncio.to_thread(resolve_identities, alone, environ, ask_passphrase)
            roster = enlist(alone, library, signers, unspoken(project, environ))
            async with open_gateway(
                project.settings, roster, store, clock, _nobody_waits, GatewayOptions()
            ) as gateway:
                yield Desk(
                    store=store,
                    clock=clock,
                    roster=roster,
                    settings=project.settings,
                    finder=Finder(gateway, store, clock),
                    environ=environ,
                    hand_over=_next_host,
                    remind=_next_host,
                )


def _nobody_waits(relay: str) -> None:
    """That a relay came back moves nothing here."""


def _next_host(relays: Iterable[str] = ()) -> None:
    """What is in the outbox goes out with the next host, and so do reminders."""

"""A gateway for a roster, with the store behind its questions."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import replace

from uniun_bots.clock import Clock
from uniun_bots.database.store import Store
from uniun_bots.graph.find import have_for
from uniun_bots.host.roster import Roster
from uniun_bots.nostr.filter import Filter
from uniun_bots.personas.settings import HostSettings
from uniun_bots.relays.door import Door
from uniun_bots.relays.gateway import Gateway
from uniun_bots.relays.marks import StoreMarks
from uniun_bots.relays.options import GatewayOptions

Connect = Callable[
    [HostSettings, Roster, Store, Clock, Callable[[str], None], GatewayOptions],
    AbstractAsyncContextManager[Door],
]
"""How a host gets its door to the relays."""


def open_gateway(
    settings: HostSettings,
    roster: Roster,
    store: Store,
    clock: Clock,
    came_back: Callable[[str], None],
    patience: GatewayOptions,
) -> Gateway:
    """`patience`: everything but the relays and the proxy, which the project names."""

    async def known(wanted: Filter, since: int) -> list[tuple[str, int]]:
        return await store.read(lambda tx: have_for(tx, wanted, since))

    options = replace(patience, relays=tuple(roster.addresses.values()), proxy=settings.proxy)
    return Gateway(options, clock, known, roster.signers, StoreMarks(store), came_back)

"""A gateway for a roster, with the store behind its questions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from uniun_bots.clock import Clock
from uniun_bots.database.store import Store
from uniun_bots.graph.find import have_for
from uniun_bots.host.roster import Roster
from uniun_bots.nostr.filter import Filter
from uniun_bots.personas.settings import HostSettings
from uniun_bots.relays.gateway import Gateway
from uniun_bots.relays.marks import read_marks, write_marks
from uniun_bots.relays.options import GatewayOptions


class StoredMarks:
    """How far each relay was read, in the store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def get(self, relay: str, keys: Sequence[str]) -> dict[str, int]:
        return await self._store.read(lambda tx: read_marks(tx, relay, keys))

    async def set(self, relay: str, keys: Sequence[str], read_upto: int) -> None:
        await self._store.write(lambda tx: write_marks(tx, relay, keys, read_upto))


def open_gateway(
    settings: HostSettings, roster: Roster, store: Store, clock: Clock, came_back: Callable[[str], None]
) -> Gateway:
    async def known(wanted: Filter, since: int) -> list[tuple[str, int]]:
        return await store.read(lambda tx: have_for(tx, wanted, since))

    options = GatewayOptions(relays=tuple(roster.addresses.values()), proxy=settings.proxy)
    return Gateway(options, clock, known, roster.signers, StoredMarks(store), came_back)

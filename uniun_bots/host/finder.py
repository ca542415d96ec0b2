"""Look-ups on relays on behalf of a run, each bounded in time, with what was not found remembered for a while."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence

from uniun_bots.clock import Clock
from uniun_bots.database.store import Store
from uniun_bots.graph.keep import keep
from uniun_bots.graph.note import Note
from uniun_bots.graph.profiles import mark_checked
from uniun_bots.inputs.take import FETCH_S
from uniun_bots.inputs.taken import Needs
from uniun_bots.nostr.filter import Filter
from uniun_bots.personas.hosted import HostedGana
from uniun_bots.personas.relay_set import RelayAddress
from uniun_bots.relays.door import Door
from uniun_bots.relays.heard import Heard

ASK_AGAIN_S = 600.0
DELETION_S = 1.0
MOST_REMEMBERED = 10_000


class Finder:
    def __init__(self, gateway: Door, store: Store, clock: Clock) -> None:
        self._gateway, self._store, self._clock = gateway, store, clock
        self._missing: dict[str, float] = {}

    async def look_up(self, needs: Needs, relays: Sequence[str], timeout_s: float) -> None:
        filters = []
        if needs.profiles:
            filters.append(Filter(kinds=(0,), authors=needs.profiles))
        if needs.notes:
            filters.append(Filter(ids=needs.notes))
        await self._fetch(filters, relays, timeout_s)
        await self._store.write(lambda tx: mark_checked(tx, needs.profiles, self._clock.now()))

    def for_ancestors(self, relays: Sequence[str]) -> Callable[[str], Awaitable[bool]]:
        """One after the other upwards; all of them together within FETCH_S."""
        ends = self._clock.now() + FETCH_S

        async def find(note_id: str) -> bool:
            now = self._clock.now()
            if now >= ends or self._missing.get(note_id, 0.0) > now:
                return False
            if await self._fetch([Filter(ids=(note_id,))], relays, ends - now):
                return True
            self._remember_missing(note_id, now)
            return False

        return find

    async def look_for_deletion(self, note: Note, relays: Sequence[str]) -> None:
        """Relays tell of deletions only when asked (NIP-09)."""
        wanted = Filter(kinds=(5,), authors=(note.author,), tags=(("e", (note.id,)),))
        await self._fetch([wanted], relays, DELETION_S)

    async def difficulty(self, hosted: HostedGana, addresses: Mapping[str, RelayAddress], own: int) -> int:
        """Leading zero bits to mine (NIP-13): the most of what the settings and the relays ask for.

        One event goes to all of them, so the hardest decides.
        """
        asked = [own]
        for url in hosted.writes:
            said = addresses[url].pow
            asked.append(await self._relay_pow(url) if said is None else said)
        return max(asked)

    async def _relay_pow(self, url: str) -> int:
        """What the relay's NIP-11 document asks for; 0 when it says nothing."""
        information = await self._gateway.information(url)
        return information.min_pow_difficulty if information else 0

    async def _fetch(self, filters: list[Filter], relays: Sequence[str], timeout_s: float) -> bool:
        events = await self._gateway.fetch(filters, list(relays), timeout_s)
        now = self._clock.now()
        # Which of the relays had it is told by `hear`, where it comes out as well.
        heard = [Heard(event, "", now) for event in events]
        if heard:
            await self._store.write(lambda tx: keep(tx, heard))
        return bool(heard)

    def _remember_missing(self, note_id: str, now: float) -> None:
        if len(self._missing) >= MOST_REMEMBERED:
            self._missing.clear()
        self._missing[note_id] = now + ASK_AGAIN_S

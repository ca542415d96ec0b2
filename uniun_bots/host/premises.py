"""What every step of the flow works with: the opened parts of a host. A reload replaces the roster and the settings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from uniun_bots.clock import Clock
from uniun_bots.database.store import Store
from uniun_bots.graph.note import Note
from uniun_bots.graph.scope import Scope
from uniun_bots.graph.search import search
from uniun_bots.graph.vectors import Vectors
from uniun_bots.host.finder import Finder
from uniun_bots.host.roster import Roster
from uniun_bots.inference.engine import Engine
from uniun_bots.inference.scheduler import Scheduler
from uniun_bots.personas.settings import HostSettings
from uniun_bots.relays.door import Door
from uniun_bots.triggers.wakeups import Wakeups


@dataclass(kw_only=True, eq=False)
class Premises:
    store: Store
    gateway: Door
    scheduler: Scheduler
    engines: dict[str, Engine]
    wakeups: Wakeups
    clock: Clock
    settings: HostSettings
    roster: Roster
    vectors: Vectors | None = None
    """None for `embedder: none`: then words alone are searched."""
    debounce: bool = True
    defers_agentic: bool = False
    """Agentic Ganas are left to a host that stays."""

    def __post_init__(self) -> None:
        self.finder = Finder(self.gateway, self.store, self.clock)
        self.counters: Counter[str] = Counter()
        self.deferred: set[str] = set()
        """Agentic Ganas that had something to do."""

    async def search(self, text: str, scope: Scope, limit: int) -> Sequence[Note]:
        """Notes of the scope, the best first: the same for prompts and for skills."""
        return [hit.note for hit in await search(self.store, self.vectors, text, scope, limit)]

"""What the skills of one run work with."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from uniun_bots.database.store import Store
from uniun_bots.graph.note import Note
from uniun_bots.graph.scope import Scope
from uniun_bots.inputs.turn import Turn
from uniun_bots.personas.hosted import HostedGana
from uniun_bots.skills.handles import Handles

Search = Callable[[str, Scope, int], Awaitable[Sequence[Note]]]
"""Query, where, and how many at most: the best first."""


@dataclass(slots=True)
class Reach:
    store: Store
    scope: Scope
    """What the knowledge skills may read."""
    search: Search
    now: float
    handles: Handles = field(default_factory=Handles)
    """Of every note that the run has shown; skills add theirs."""
    hosted: HostedGana | None = None
    """None for Shiv, who has no identity in a conversation."""
    turn: Turn | None = None
    own: str = "[]"
    """JSON list of every hosted public key."""

    @property
    def pubkey(self) -> str:
        return self.hosted.pubkey if self.hosted else ""

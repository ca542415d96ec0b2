"""One job as the policy sees it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import Literal, TypeAlias

Kind = Literal["gana", "chat", "extract", "switch"]
Key: TypeAlias = tuple[float, int]
"""Place inside a tier, smallest first: what the tier orders by, then the order of arrival."""


class Tier(IntEnum):
    SWITCH = -1
    CHAT = 0
    FOREGROUND = 1
    EXTRACT = 2
    LATE = 3
    POOL = 4


@dataclass(slots=True, eq=False)
class Ticket:
    """Compared by identity. What stands below `forced` belongs to the policy."""

    kind: Kind
    owner: str
    """Gana id; for the other kinds the kind itself."""
    model: str = ""
    due: float | None = None
    """When a timer wanted it; a job without one is never late."""
    foreground: bool = False
    """Somebody looks at what this job makes, whatever screen is in front."""
    forced: bool = False
    """A switch that does not wait."""

    order: int = 0
    """Place in the order of arrival; kept when it gives way, so that it comes back to the front of its owner."""
    waits_in: Tier | None = None
    """None while it does not wait."""
    started_at: float = 0.0
    billed_to: float = 0.0
    started_key: Key = (0.0, 0)
    overtakes: Tier | None = None
    """The tier in which it was taken before its turn because its model was loaded."""
    gives_way: str = ""
    """Why it was told to stop; empty while it may run."""
    waits_for: set[Ticket] = field(default_factory=set)
    """Of a gentle switch: the tickets that have to end by themselves first."""

    @property
    def has_account(self) -> bool:
        """Whether its engine seconds count in the pool, in whatever tier they are spent."""
        return self.kind == "gana"

    @property
    def comes_back(self) -> bool:
        """Whether it is queued again after it gave way."""
        return self.kind in ("gana", "extract")

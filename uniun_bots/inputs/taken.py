"""What one take is asked, and what came of it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from uniun_bots.inputs.budgets import Running
from uniun_bots.inputs.held import Held
from uniun_bots.inputs.turn import Turn
from uniun_bots.personas.hosted import HostedGana


@dataclass(frozen=True, slots=True)
class Needs:
    """What must be looked up on relays before the next note can be judged."""

    profiles: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Taken:
    turn: Turn | None = None
    running: Running | None = None
    """What to enter among the running turns when there is a turn."""
    others: tuple[tuple[Turn, Running], ...] = ()
    """Further turns that could be taken on the same way, when more than one was asked for."""
    held: tuple[Held, ...] = ()
    mutes: tuple[tuple[str, str], ...] = ()
    """Authors who asked us to stop, with the note that says so."""
    more: bool = False
    """More is pending that could be taken at once."""
    next_at: float | None = None
    """When a failed turn may be tried again."""
    needs: Needs | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """One take: which Gana, where, and what is under way."""

    hosted: HostedGana
    surface: str
    due: int | None
    now: float
    own: str
    """JSON list of every hosted public key."""
    running: tuple[Running, ...] = ()
    looked_for: Collection[str] = field(default=())
    """Note ids that were already asked for without success."""
    most: int = 1
    """Turns that there is room for."""

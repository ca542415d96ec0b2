"""The waiting jobs of one tier, each model's apart."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from uniun_bots.inference.policy.ordered import Ordered
from uniun_bots.inference.policy.overtaking import Overtaking
from uniun_bots.inference.policy.rules import HAIR
from uniun_bots.inference.policy.ticket import Key, Ticket


class Line(Protocol):
    overtaking: Overtaking

    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[Ticket]: ...
    def heads(self) -> dict[str, tuple[Key, Ticket]]:
        """The first of each model that somebody waits for."""
        ...


class OrderedLine:
    """First come first served, or earliest deadline first: as the given keys say."""

    def __init__(self) -> None:
        self.overtaking = Overtaking()
        self._models: dict[str, Ordered[Ticket]] = {}
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Ticket]:
        return (ticket for tickets in self._models.values() for ticket in tickets)

    def add(self, ticket: Ticket, key: Key) -> None:
        self._models.setdefault(ticket.model, Ordered()).put(ticket, key)
        self._count += 1

    def discard(self, ticket: Ticket) -> None:
        self._models[ticket.model].discard(ticket)
        self._count -= 1
        if not self._models[ticket.model]:
            del self._models[ticket.model]
        if self.overtaking:
            self.overtaking.passed(first_place(self))

    def heads(self) -> dict[str, tuple[Key, Ticket]]:
        found = {model: tickets.first() for model, tickets in self._models.items()}
        return {model: first for model, first in found.items() if first}


def first_place(line: Line) -> Key | None:
    return min((key for key, _ in line.heads().values()), default=None)


@dataclass(frozen=True, slots=True)
class Choice:
    ticket: Ticket
    place: Key
    early: bool = False
    """It goes before its turn because its model is loaded."""


def _by_place(head: tuple[Key, Ticket]) -> tuple[Key, int]:
    """Jobs of one Gana for two models have the same place in the pool."""
    return head[0], head[1].order


def waited_enough(line: Line, loaded: str | None, affinity_s: float) -> bool:
    """Whether the first of all, for another model, was delayed as long as it may be."""
    if not line or line.overtaking.total_s < affinity_s - HAIR:
        return False
    return min(line.heads().values(), key=_by_place)[1].model != loaded


def choose(line: Line, loaded: str | None, affinity_s: float) -> Choice | None:
    """The first of the loaded model, unless that would delay the first of all beyond `affinity_s`."""
    if not line:
        return None
    heads = line.heads()
    place, first = min(heads.values(), key=_by_place)
    if first.model == loaded or loaded not in heads or waited_enough(line, loaded, affinity_s):
        return Choice(first, place)
    place, ticket = heads[loaded]
    return Choice(ticket, place, early=True)

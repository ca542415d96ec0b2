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

    def __len__(self) -> int:
        return sum(map(len, self._models.values()))

    def __iter__(self) -> Iterator[Ticket]:
        return (ticket for tickets in self._models.values() for ticket in tickets)

    def add(self, ticket: Ticket, key: Key) -> None:
        self._models.setdefault(ticket.model, Ordered()).put(ticket, key)

    def discard(self, ticket: Ticket) -> None:
        self._models[ticket.model].discard(ticket)
        if not self._models[ticket.model]:
            del self._models[ticket.model]
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


def waited_enough(line: Line, loaded: str | None, affinity_s: float) -> bool:
    """Whether the first of all, for another model, was delayed as long as it may be."""
    first = min(line.heads().values(), key=lambda head: head[0], default=None)
    return first is not None and first[1].model != loaded and line.overtaking.total_s >= affinity_s - HAIR


def choose(line: Line, loaded: str | None, affinity_s: float) -> Choice | None:
    """The first of the loaded model, unless that would delay the first of all beyond `affinity_s`."""
    heads = line.heads()
    if not heads:
        return None
    place, first = min(heads.values(), key=lambda head: head[0])
    if first.model == loaded or loaded not in heads or waited_enough(line, loaded, affinity_s):
        return Choice(first, place)
    place, ticket = heads[loaded]
    return Choice(ticket, place, early=True)

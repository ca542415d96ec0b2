"""Who waits, in which tier."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from uniun_bots.inference.policy.fair_pool import FairPool
from uniun_bots.inference.policy.line import Line, OrderedLine
from uniun_bots.inference.policy.ordered import Ordered
from uniun_bots.inference.policy.rules import Rules
from uniun_bots.inference.policy.switches import Switches
from uniun_bots.inference.policy.ticket import Ticket, Tier


class Queues:
    def __init__(self, rules: Rules) -> None:
        self.foreground: str | None = None
        """The Gana whose screen is in front."""
        self.pool = FairPool(rules.forget_s)
        self.switches = Switches()
        self._grace_s = rules.grace_s
        self._ordered = {
            tier: OrderedLine() for tier in (Tier.CHAT, Tier.FOREGROUND, Tier.EXTRACT, Tier.LATE)
        }
        self._by_deadline: Ordered[Ticket] = Ordered()
        self._owners: dict[str, dict[Ticket, None]] = {}

    def __bool__(self) -> bool:
        """Whether anybody waits."""
        return bool(self._owners or self.switches)

    def line(self, tier: Tier) -> Line:
        return self.pool if tier is Tier.POOL else self._ordered[tier]

    def count(self, tier: Tier) -> int:
        return len(self.switches) if tier is Tier.SWITCH else len(self.line(tier))

    def waiting(self, tier: Tier) -> list[Ticket]:
        """In the order that they would run in if all were for the loaded model and took no time."""
        found = self.switches if tier is Tier.SWITCH else self.line(tier)
        if tier is Tier.POOL:
            return sorted(found, key=lambda ticket: (self.pool.place_of(ticket.owner), ticket.order))
        return sorted(found, key=lambda ticket: (self._rank(ticket, tier), ticket.order))

    def of_owner(self, owner: str) -> tuple[Ticket, ...]:
        return tuple(self._owners.get(owner, ()))

    def count_of(self, owner: str) -> int:
        return len(self._owners.get(owner, ()))

    def tier_of(self, ticket: Ticket, now: float) -> Tier:
        if ticket.kind == "switch":
            return Tier.SWITCH
        if ticket.kind == "chat":
            return Tier.CHAT
        if ticket.foreground or (ticket.kind == "gana" and ticket.owner == self.foreground):
            return Tier.FOREGROUND
        if ticket.kind == "extract":
            return Tier.EXTRACT
        return Tier.LATE if self._deadline(ticket) <= now else Tier.POOL

    def add(self, ticket: Ticket, tier: Tier) -> None:
        """One for the pool needs an account there first."""
        ticket.waits_in = tier
        self._owners.setdefault(ticket.owner, {})[ticket] = None
        if tier is Tier.POOL:
            self.pool.add(ticket)
            if ticket.due is not None:
                self._by_deadline.put(ticket, (self._deadline(ticket), ticket.order))
        else:
            self._ordered[tier].add(ticket, (self._rank(ticket, tier), ticket.order))

    def add_switch(self, switch: Ticket, running: Iterable[Ticket]) -> None:
        switch.waits_in = Tier.SWITCH
        self.switches.add(switch, running)

    def discard(self, ticket: Ticket) -> None:
        tier, ticket.waits_in = ticket.waits_in, None
        if tier is Tier.SWITCH or tier is None:
            self.switches.discard(ticket)
            return
        owners = self._owners[ticket.owner]
        del owners[ticket]
        if not owners:
            del self._owners[ticket.owner]
        if tier is Tier.POOL:
            self.pool.discard(ticket)
            self._by_deadline.discard(ticket)
        else:
            self._ordered[tier].discard(ticket)

    def grow_late(self, now: float) -> Iterator[Ticket]:
        """Take those out of the pool whose deadline passed."""
        while (first := self._by_deadline.first()) and first[0][0] <= now:
            self.discard(first[1])
            yield first[1]

    def next_deadline(self) -> float:
        first = self._by_deadline.first()
        return first[0][0] if first else float("inf")

    def _rank(self, ticket: Ticket, tier: Tier) -> float:
        return self._deadline(ticket) if tier is Tier.LATE else 0.0

    def _deadline(self, ticket: Ticket) -> float:
        return float("inf") if ticket.due is None else ticket.due + self._grace_s

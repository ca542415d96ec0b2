"""The rules as one object: what happened goes in with its time, `decide` says what starts and what stops.

Lowest tier first. Inside the tiers 0 to 2 first come, first served; inside 3 the earliest deadline; inside 4 the
owner with the smallest virtual runtime. docs/scheduler.md explains every rule and where it comes from.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from uniun_bots.inference.policy.chat_turns import ChatTurns
from uniun_bots.inference.policy.extract_budget import ExtractBudget
from uniun_bots.inference.policy.line import Choice, Line, choose, first_place, waited_enough
from uniun_bots.inference.policy.queues import Queues
from uniun_bots.inference.policy.rules import Rules
from uniun_bots.inference.policy.ticket import Ticket, Tier

FORCED = "a model switch was forced"
CHAT = "somebody chats"
SHARE = "extraction had its share"
OTHER_MODEL = "a job for another model waited long enough"
MORE_URGENT = "something more urgent came"


@dataclass(frozen=True, slots=True)
class Decision:
    start: tuple[Ticket, ...]
    stop: tuple[Ticket, ...]
    """Each says why in `gives_way`. They hold their slots until `gave_way` or `ended` is told."""


class Policy:
    """One seat. Times are seconds of one clock and never go back."""

    def __init__(self, rules: Rules | None = None, slots: int = 1) -> None:
        self.rules = rules or Rules()
        self.loaded: str | None = None
        self.slots_of: dict[str, int] = {}
        """Jobs side by side, of each model that was loaded once."""
        self._slots = slots
        self.running: dict[Ticket, None] = {}
        self.queues = Queues(self.rules)
        self.chat = ChatTurns(self.rules.chat_quiet_s)
        self.budget = ExtractBudget(self.rules)
        self.spent: defaultdict[str, float] = defaultdict(float)
        """Engine seconds by owner, over all tiers."""
        self._arrivals = 0
        self._advanced_to = float("-inf")
        self._extract_may = True

    @property
    def slots(self) -> int:
        return self._slots if self.loaded is None else self.slots_of.get(self.loaded, self._slots)

    # what happened ------------------------------------------------------------------------------------

    def add(self, ticket: Ticket, now: float) -> None:
        self._advance(now)
        self._arrivals += 1
        ticket.order = self._arrivals
        if ticket.kind == "switch":
            self.queues.add_switch(ticket, self.running)
            return
        if ticket.kind == "chat":
            self.chat.begin()
        if ticket.has_account:
            self.queues.pool.enter(ticket.owner, now)
        self._queue(ticket, now)

    def remove(self, ticket: Ticket, now: float) -> None:
        """It waited, and its caller went away."""
        self._advance(now)
        self.queues.discard(ticket)
        self._gone(ticket, now)

    def gave_way(self, ticket: Ticket, now: float) -> None:
        """It stopped as it was told: back to the front of its owner's queue."""
        self._advance(now)
        del self.running[ticket]
        ticket.gives_way = ""
        self._queue(ticket, now)

    def ended(self, ticket: Ticket, now: float) -> None:
        """It is over, with an answer or without."""
        self._advance(now)
        del self.running[ticket]
        self._gone(ticket, now)

    def set_foreground(self, owner: str | None, now: float) -> None:
        """The Gana whose screen is in front; None for none."""
        self._advance(now)
        before, self.queues.foreground = self.queues.foreground, owner
        theirs = [ticket for name in (before, owner) if name for ticket in self.queues.of_owner(name)]
        moved = [ticket for ticket in theirs if self.queues.tier_of(ticket, now) is not ticket.waits_in]
        for ticket in moved:
            self.queues.discard(ticket)
        for ticket in moved:
            self._queue(ticket, now)

    def begin_chat(self) -> None:
        self.chat.begin()

    def end_chat(self, now: float) -> None:
        self.chat.end(now)

    # what follows -------------------------------------------------------------------------------------

    def decide(self, now: float) -> Decision:
        """Starts and stops count from here: whoever asks carries them out."""
        self._advance(now)
        self._extract_may = self.budget.allows(now, self.slots)
        started = []
        while choice := self._next_start(now):
            self._start(choice, now)
            started.append(choice.ticket)
        stopped = []
        for ticket, why in self._to_stop(now):
            ticket.gives_way = why
            stopped.append(ticket)
        return Decision(tuple(started), tuple(stopped))

    def next_change(self, now: float) -> float | None:
        """After `decide` at this time: when it may say something new although nothing happened."""
        times = [at for at in self._changes(now) if now < at < float("inf")]
        return min(times, default=None)

    # queues and time ----------------------------------------------------------------------------------

    def _queue(self, ticket: Ticket, now: float) -> None:
        self.queues.add(ticket, self.queues.tier_of(ticket, now))

    def _gone(self, ticket: Ticket, now: float) -> None:
        if ticket.has_account:
            self.queues.pool.leave(ticket.owner, now)
        if ticket.kind == "chat":
            self.chat.end(now)
        self.queues.switches.ended(ticket)

    def _advance(self, now: float) -> None:
        if now == self._advanced_to:
            return
        self._advanced_to = now
        owed: defaultdict[str, float] = defaultdict(float)
        for ticket in self.running:
            self._bill(ticket, now, owed)
        for owner, seconds in owed.items():
            self.queues.pool.bill(owner, seconds)
        for ticket in self.queues.grow_late(now):
            self._queue(ticket, now)

    def _bill(self, ticket: Ticket, now: float, owed: defaultdict[str, float]) -> None:
        """`owed`: what the pool is to be told, once for each owner."""
        since, ticket.billed_to = ticket.billed_to, now
        if now <= since:
            return
        self.spent[ticket.owner] += now - since
        if ticket.has_account:
            owed[ticket.owner] += now - since
        if ticket.kind == "extract":
            self.budget.spend(since, now)
        if ticket.overtakes is not None:
            self._bill_overtaking(ticket, self.queues.line(ticket.overtakes), now - since)

    @staticmethod
    def _bill_overtaking(ticket: Ticket, line: Line, seconds: float) -> None:
        first = first_place(line)
        if first is not None and first < ticket.started_key:
            line.overtaking.add(ticket.started_key, seconds)

    # starting -----------------------------------------------------------------------------------------

    def _next_start(self, now: float) -> Choice | None:
        if (
            not self.queues
            or len(self.running) >= self.slots
            or any(ticket.kind == "switch" for ticket in self.running)
        ):
            return None
        choice = self._choose(now)
        return choice if choice and not (self.running and self._needs_all(choice.ticket)) else None

    def _needs_all(self, ticket: Ticket) -> bool:
        """Whether it can only start when nothing else runs: the model is about to change."""
        return ticket.kind == "switch" or (self.loaded is not None and ticket.model != self.loaded)

    def _choose(self, now: float) -> Choice | None:
        if switch := self.queues.switches.ready(chatting=self.chat.open > 0):
            return Choice(switch, (0.0, switch.order))
        for line in self._open_lines(now):
            if choice := choose(line, self.loaded, self.rules.affinity_s):
                return choice
        return None

    def _open_lines(self, now: float) -> Iterator[Line]:
        yield self.queues.line(Tier.CHAT)
        yield self.queues.line(Tier.FOREGROUND)
        if self.chat.hold_back(now):
            return
        if self._extract_may or not self._others_wait():
            yield self.queues.line(Tier.EXTRACT)
        yield self.queues.line(Tier.LATE)
        yield self.queues.line(Tier.POOL)

    def _others_wait(self) -> bool:
        return self.queues.count(Tier.LATE) + self.queues.count(Tier.POOL) > 0

    def _start(self, choice: Choice, now: float) -> None:
        ticket = choice.ticket
        ticket.overtakes = ticket.waits_in if choice.early else None
        ticket.started_at = ticket.billed_to = now
        ticket.started_key = choice.place
        self.queues.discard(ticket)
        if ticket.has_account:
            self.queues.pool.served(ticket.owner)
        self.running[ticket] = None
        self.loaded = ticket.model

    # stopping -----------------------------------------------------------------------------------------

    def _to_stop(self, now: float) -> Iterator[tuple[Ticket, str]]:
        left = []
        calm = self._extract_may and not self.queues.switches and not self.chat.hold_back(now)
        for ticket in self.running:
            if ticket.gives_way or ticket.kind == "switch":
                continue
            if (not calm or ticket.overtakes is not None) and (why := self._why_stop(ticket, now)):
                yield ticket, why
            else:
                left.append(ticket)
        for ticket in self._outranked(left, now):
            yield ticket, MORE_URGENT

    def _why_stop(self, ticket: Ticket, now: float) -> str:
        if self.queues.switches.forced:
            return FORCED
        tier = self.queues.tier_of(ticket, now)
        if tier >= Tier.EXTRACT and self.chat.hold_back(now):
            return CHAT
        if tier is Tier.EXTRACT and self._others_wait() and not self._extract_may:
            return SHARE
        if tier > Tier.CHAT and ticket.overtakes is not None and self._waited_enough(ticket.overtakes):
            return OTHER_MODEL
        return ""

    def _waited_enough(self, tier: Tier) -> bool:
        return waited_enough(self.queues.line(tier), self.loaded, self.rules.affinity_s)

    def _outranked(self, candidates: list[Ticket], now: float) -> list[Ticket]:
        """Those with the largest tier number first, of these the one that began last."""
        if not candidates or not self.queues or not self._waiting_before(Tier.POOL, now):
            return []
        tiers = {ticket: self.queues.tier_of(ticket, now) for ticket in candidates}
        if not self._waiting_before(max(tiers.values()), now):
            return []
        choice = self._choose(now)
        if choice is None or choice.ticket.kind == "switch":
            return []
        if self._needs_all(choice.ticket):
            wanted = self.queues.tier_of(choice.ticket, now)
            return [ticket for ticket in candidates if tiers[ticket] > wanted]
        found: list[Ticket] = []
        # Slots that are free, or about to be, take the first of those who wait.
        taken = self.slots - len(candidates)
        for ticket in sorted(
            candidates, key=lambda one: (tiers[one], one.started_at, one.order), reverse=True
        ):
            if self._waiting_before(tiers[ticket], now) <= taken:
                break
            found.append(ticket)
            taken += 1
        return found

    def _waiting_before(self, tier: Tier, now: float) -> int:
        held = self.chat.hold_back(now)
        count = 0
        for smaller in (Tier.CHAT, Tier.FOREGROUND, Tier.EXTRACT, Tier.LATE):
            if smaller >= tier or (held and smaller >= Tier.EXTRACT):
                break
            if smaller is not Tier.EXTRACT or self._extract_may:
                count += self.queues.count(smaller)
        return count

    # the next moment ----------------------------------------------------------------------------------

    def _changes(self, now: float) -> Iterator[float]:
        yield self.queues.next_deadline()
        if not self.chat.open:
            yield self.chat.quiet_until
        yield from self._budget_changes(now)
        overtakers = [ticket.overtakes for ticket in self.running if ticket.overtakes is not None]
        for tier in set(overtakers):
            left = self.rules.affinity_s - self.queues.line(tier).overtaking.total_s
            yield now + left / overtakers.count(tier)

    def _budget_changes(self, now: float) -> Iterator[float]:
        if not self._extract_may:
            if self.queues.count(Tier.EXTRACT):
                yield self.budget.free_at(self.slots)
        elif self._others_wait() and (running := sum(one.kind == "extract" for one in self.running)):
            yield self.budget.spent_at(now, self.slots, running)

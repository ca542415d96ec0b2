"""The scheduler's rules once more, without any cleverness: lists that are searched from end to end.

It shares the tickets with the policy it checks, but reads only what a caller writes into them.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from uniun_bots.inference.policy.rules import Rules
from uniun_bots.inference.policy.ticket import Ticket, Tier

TINY = 1e-6


@dataclass(eq=False)
class Paper:
    """All that is known of one ticket."""

    ticket: Ticket
    order: int
    waits: bool = True
    pooled: bool = False
    early_in: Tier | None = None
    place: tuple[float, int] = (0.0, 0)
    started_at: float = 0.0
    stopped: bool = False
    before: list[Ticket] = field(default_factory=list)
    """Of a gentle switch: who has to end first."""


class DumbPicker:
    def __init__(self, rules: Rules, slots: int) -> None:
        self.rules, self.slots = rules, slots
        self.papers: list[Paper] = []
        self.arrived = 0
        self.now = 0.0
        self.foreground: str | None = None
        self.loaded: str | None = None
        self.chats = 0
        self.quiet_until = -1.0
        self.runtime: dict[str, float] = {}
        self.turn: dict[str, int] = {}
        self.turns = 0
        self.left_at: dict[str, float] = {}
        self.floor = 0.0
        self.extracted: list[tuple[float, float]] = []
        self.extract_shut = False
        self.overtakers: dict[Tier, list[tuple[tuple[float, int], float]]] = {tier: [] for tier in Tier}

    # what happened ------------------------------------------------------------------------------------

    def add(self, ticket: Ticket, now: float) -> None:
        self.go_to(now)
        self.arrived += 1
        paper = Paper(ticket, self.arrived)
        if ticket.kind == "switch":
            paper.before = [one.ticket for one in self.running() if one.ticket.kind != "switch"]
        if ticket.kind == "chat":
            self.chats += 1
        self.papers.append(paper)
        if ticket.kind == "gana":
            self.enter(paper)
            paper.pooled = True

    def remove(self, ticket: Ticket, now: float) -> None:
        self.go_to(now)
        paper = self.paper(ticket)
        tier = self.tier(paper)
        self.finish(paper)
        self.forget_overtakers(tier)

    def ended(self, ticket: Ticket, now: float) -> None:
        self.go_to(now)
        self.finish(self.paper(ticket))

    def gave_way(self, ticket: Ticket, now: float) -> None:
        self.go_to(now)
        paper = self.paper(ticket)
        paper.waits, paper.stopped, paper.early_in = True, False, None

    def set_foreground(self, owner: str | None, now: float) -> None:
        self.go_to(now)
        before = {paper: self.tier(paper) for paper in self.waiting()}
        self.foreground = owner
        for tier in {tier for paper, tier in before.items() if self.tier(paper) is not tier}:
            stayed = [one for one in self.line(tier) if before[one] is tier]
            self.forget_overtakers(tier, stayed)

    def begin_chat(self) -> None:
        self.chats += 1

    def end_chat(self, now: float) -> None:
        self.chats -= 1
        self.quiet_until = max(self.quiet_until, now + self.rules.chat_quiet_s)

    # what follows -------------------------------------------------------------------------------------

    def decide(self, now: float) -> tuple[list[Ticket], list[Ticket]]:
        self.go_to(now)
        self.look_at_extraction()
        started = []
        while paper := self.next_start():
            started.append(paper.ticket)
        stopped = []
        for paper in [one for one in self.running() if not one.stopped and one.ticket.kind != "switch"]:
            if self.must_stop(paper):
                paper.stopped = True
                stopped.append(paper.ticket)
        while paper := self.outranked():
            paper.stopped = True
            stopped.append(paper.ticket)
        return started, stopped

    def next_start(self) -> Paper | None:
        running = self.running()
        paper = self.choose()
        if paper is None or len(running) >= self.slots:
            return None
        if running and (self.alone(paper) or any(one.ticket.kind == "switch" for one in running)):
            return None
        tier = self.tier(paper)
        first = min(self.line(tier), key=self.rank_in_line)
        paper.early_in = tier if paper is not first else None
        paper.place, paper.started_at, paper.waits = self.rank(paper), self.now, False
        self.loaded = paper.ticket.model
        self.forget_overtakers(tier)
        if paper.pooled:
            self.next_turn(paper.ticket.owner)
        return paper

    def choose(self) -> Paper | None:
        switches = self.line(Tier.SWITCH)
        if switches and (self.forced() or not (self.chats or switches[0].before)):
            return switches[0]
        for tier in (Tier.CHAT, Tier.FOREGROUND, Tier.EXTRACT, Tier.LATE, Tier.POOL):
            line = self.line(tier)
            if line and self.is_open(tier):
                first = min(line, key=self.rank_in_line)
                same = [paper for paper in line if paper.ticket.model == self.loaded]
                return first if not same or self.long_enough(tier) else min(same, key=self.rank_in_line)
        return None

    def is_open(self, tier: Tier) -> bool:
        if tier >= Tier.EXTRACT and (self.chats or self.now < self.quiet_until):
            return False
        return not (tier is Tier.EXTRACT and self.extract_shut and self.others_wait())

    def must_stop(self, paper: Paper) -> bool:
        tier = self.tier(paper)
        if self.forced() or (tier >= Tier.EXTRACT and (self.chats or self.now < self.quiet_until)):
            return True
        if tier is Tier.EXTRACT and not self.is_open(tier):
            return True
        return tier > Tier.CHAT and paper.early_in is not None and self.long_enough(paper.early_in)

    def outranked(self) -> Paper | None:
        first = self.choose()
        may = [one for one in self.running() if not one.stopped and one.ticket.kind != "switch"]
        if not may or first is None or first.ticket.kind == "switch":
            return None
        if self.tier(first) is Tier.EXTRACT and self.extract_shut:
            return None
        worst = max(may, key=lambda one: (self.tier(one), one.started_at, one.order))
        if self.alone(first):
            return worst if self.tier(worst) > self.tier(first) else None
        better = [
            one
            for one in self.waiting()
            if Tier.CHAT <= self.tier(one) < self.tier(worst)
            and (self.tier(one) < Tier.EXTRACT or not (self.chats or self.now < self.quiet_until))
            and not (self.tier(one) is Tier.EXTRACT and self.extract_shut)
        ]
        return worst if len(better) > self.slots - len(may) else None

    # small questions ----------------------------------------------------------------------------------

    def paper(self, ticket: Ticket) -> Paper:
        return next(paper for paper in self.papers if paper.ticket is ticket)

    def waiting(self) -> list[Paper]:
        return [paper for paper in self.papers if paper.waits]

    def running(self) -> list[Paper]:
        return [paper for paper in self.papers if not paper.waits]

    def line(self, tier: Tier) -> list[Paper]:
        return [paper for paper in self.waiting() if self.tier(paper) is tier]

    def forced(self) -> bool:
        return any(paper.ticket.forced for paper in self.line(Tier.SWITCH))

    def others_wait(self) -> bool:
        return bool(self.line(Tier.LATE) or self.line(Tier.POOL))

    def alone(self, paper: Paper) -> bool:
        return paper.ticket.kind == "switch" or self.loaded not in (None, paper.ticket.model)

    def tier(self, paper: Paper) -> Tier:
        ticket = paper.ticket
        if ticket.kind in ("switch", "chat"):
            return Tier.SWITCH if ticket.kind == "switch" else Tier.CHAT
        if ticket.foreground or (ticket.kind == "gana" and ticket.owner == self.foreground):
            return Tier.FOREGROUND
        if ticket.kind == "extract":
            return Tier.EXTRACT
        late = ticket.due is not None and ticket.due + self.rules.grace_s <= self.now
        return Tier.LATE if late else Tier.POOL

    def rank(self, paper: Paper) -> tuple[float, int]:
        tier = self.tier(paper)
        if tier is Tier.LATE and paper.ticket.due is not None:
            return paper.ticket.due + self.rules.grace_s, paper.order
        if tier is Tier.POOL:
            return round(self.runtime[paper.ticket.owner], 6), self.turn[paper.ticket.owner]
        return 0.0, paper.order

    def rank_in_line(self, paper: Paper) -> tuple[tuple[float, int], int]:
        return self.rank(paper), paper.order

    def long_enough(self, tier: Tier) -> bool:
        line = self.line(tier)
        seconds = sum(seconds for _, seconds in self.overtakers[tier])
        if not line or min(line, key=self.rank_in_line).ticket.model == self.loaded:
            return False
        return seconds >= self.rules.affinity_s - TINY

    def forget_overtakers(self, tier: Tier, line: list[Paper] | None = None) -> None:
        line = self.line(tier) if line is None else line
        first = min((self.rank(paper) for paper in line), default=(float("inf"), 0))
        self.overtakers[tier] = [one for one in self.overtakers[tier] if one[0] > first]

    # time and accounts --------------------------------------------------------------------------------

    def go_to(self, now: float) -> None:
        since, self.now = self.now, now
        late_before = [paper for paper in self.waiting() if self.tier(paper) is Tier.LATE]
        self.now = since
        pool_before = self.line(Tier.POOL)
        self.now = now
        for paper in self.running():
            begun = max(since, paper.started_at)
            if now > begun:
                self.bill(paper, begun, now, pool_before, since)
        if any(paper in late_before for paper in pool_before):
            self.forget_overtakers(Tier.POOL)

    def bill(self, paper: Paper, since: float, now: float, pool_before: list[Paper], then: float) -> None:
        if paper.pooled:
            self.runtime[paper.ticket.owner] += now - since
        if paper.ticket.kind == "extract":
            self.extracted.append((since, now))
        if paper.early_in is None:
            return
        line = pool_before if paper.early_in is Tier.POOL else self.line_as_of(paper.early_in, then)
        self.now, back = then, self.now
        ranks = [self.rank(one) for one in line]
        self.now = back
        if ranks and min(ranks) < paper.place:
            self.overtakers[paper.early_in].append((paper.place, now - since))

    def line_as_of(self, tier: Tier, then: float) -> list[Paper]:
        self.now, back = then, self.now
        line = self.line(tier)
        self.now = back
        return line

    def finish(self, paper: Paper) -> None:
        self.papers.remove(paper)
        if paper.pooled:
            self.leave(paper)
        if paper.ticket.kind == "chat":
            self.end_chat(self.now)
        for other in self.papers:
            other.before = [ticket for ticket in other.before if ticket is not paper.ticket]

    def enter(self, paper: Paper) -> None:
        owner = paper.ticket.owner
        present = {one.ticket.owner for one in self.papers if one.pooled}
        gone = owner not in present and self.now - self.left_at.get(owner, -1e9) >= self.rules.forget_s
        if gone:
            self.next_turn(owner)
            self.runtime[owner] = min((self.runtime[one] for one in present), default=self.floor)

    def next_turn(self, owner: str) -> None:
        self.turns += 1
        self.turn[owner] = self.turns

    def leave(self, paper: Paper) -> None:
        paper.pooled = False
        owner = paper.ticket.owner
        if not any(one.pooled and one.ticket.owner == owner for one in self.papers):
            self.left_at[owner] = self.now
            self.floor = self.runtime[owner]

    def look_at_extraction(self) -> None:
        start = self.now // 1 - self.rules.extract_window_s
        used = sum(max(0.0, until - max(since, start)) for since, until in self.extracted)
        limit = self.rules.extract_share * self.rules.extract_window_s * self.slots
        if used >= limit - TINY:
            self.extract_shut = True
        elif used <= limit - self.rules.extract_slice_s + TINY:
            self.extract_shut = False

"""A seat in virtual time: jobs with known lengths go through the policy, and what ran when is written down."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from uniun_bots.inference.policy.policy import Policy
from uniun_bots.inference.policy.ticket import Kind, Ticket


@dataclass(slots=True, eq=False)
class Work:
    name: str
    left_s: float
    ended_at: float | None = None
    cancelled_at: float | None = None
    began_at: float | None = None
    times_started: int = 0


@dataclass(frozen=True, slots=True)
class Stretch:
    """One uninterrupted run."""

    name: str
    owner: str
    kind: Kind
    model: str
    since: float
    until: float


@dataclass(slots=True)
class Timeline:
    policy: Policy
    now: float = 0.0
    swap_s: float = 0.0
    stretches: list[Stretch] = field(default_factory=list)
    works: dict[Ticket, Work] = field(default_factory=dict)
    on_end: Callable[[Ticket], None] = lambda _: None
    _model: str | None = None
    _since: dict[Ticket, float] = field(default_factory=dict)

    def submit(
        self,
        name: str,
        seconds: float,
        *,
        kind: Kind = "gana",
        owner: str = "",
        model: str = "m",
        due: float | None = None,
        foreground: bool = False,
        forced: bool = False,
    ) -> Ticket:
        """Without an owner a Gana of the same name."""
        owner = owner or (name if kind == "gana" else kind)
        ticket = Ticket(kind, owner, model, due, foreground, forced)
        self.works[ticket] = Work(name, seconds)
        self.policy.add(ticket, self.now)
        self._settle()
        return ticket

    def cancel(self, ticket: Ticket) -> None:
        """Its caller goes away."""
        if ticket in self.policy.running:
            self._stretch(ticket)
            self.policy.ended(ticket, self.now)
        else:
            self.policy.remove(ticket, self.now)
        self._settle()

    def foreground(self, owner: str | None) -> None:
        self.policy.set_foreground(owner, self.now)
        self._settle()

    def chat_begins(self) -> None:
        self.policy.begin_chat()
        self._settle()

    def chat_ends(self) -> None:
        self.policy.end_chat(self.now)
        self._settle()

    def run(self, seconds: float) -> None:
        self.run_until(self.now + seconds)

    def run_until(self, until: float) -> None:
        while (at := self._next_event(until)) < until:
            self._go_to(at)
            self._settle()
        self._go_to(until)
        self._settle()

    def running(self) -> list[str]:
        return [self.works[ticket].name for ticket in self.policy.running]

    def order(self) -> list[str]:
        """Names as they were started, a resumed one again."""
        now = [(since, self.works[ticket].name) for ticket, since in self._since.items()]
        done = [(stretch.since, stretch.name) for stretch in self.stretches]
        return [name for _, name in sorted(done + now, key=lambda one: one[0])]

    def work(self, name: str) -> Work:
        return next(work for work in self.works.values() if work.name == name)

    def seconds_of(self, owner: str, since: float = 0.0, until: float = float("inf")) -> float:
        """Engine seconds, those that run now not counted."""
        return sum(
            max(0.0, min(stretch.until, until) - max(stretch.since, since))
            for stretch in self.stretches
            if stretch.owner == owner
        )

    def _next_event(self, until: float) -> float:
        ends = [self.now + self.works[ticket].left_s for ticket in self._since]
        change = self.policy.next_change(self.now)
        return min([*ends, until if change is None else change])

    def _go_to(self, at: float) -> None:
        passed, self.now = at - self.now, at
        for ticket in self._since:
            self.works[ticket].left_s -= passed

    def _settle(self) -> None:
        """Until nothing happens at this time any more."""
        while True:
            over = [ticket for ticket in self._since if self.works[ticket].left_s <= 1e-9]
            for ticket in over:
                self.works[ticket].ended_at = self.now
                self._stretch(ticket)
                self.policy.ended(ticket, self.now)
            decision = self.policy.decide(self.now)
            for ticket in decision.start:
                self._begin(ticket)
            for ticket in decision.stop:
                self._stop(ticket)
            for ticket in over:
                self.on_end(ticket)
            if not (over or decision.start or decision.stop):
                return

    def _begin(self, ticket: Ticket) -> None:
        work = self.works[ticket]
        work.times_started += 1
        work.began_at = self.now if work.began_at is None else work.began_at
        if ticket.model != self._model:
            work.left_s += self.swap_s if self._model is not None else 0.0
            self._model = ticket.model
        self._since[ticket] = self.now

    def _stop(self, ticket: Ticket) -> None:
        self._stretch(ticket)
        if ticket.comes_back:
            self.policy.gave_way(ticket, self.now)
        else:
            self.works[ticket].cancelled_at = self.now
            self.policy.ended(ticket, self.now)

    def _stretch(self, ticket: Ticket) -> None:
        since, work = self._since.pop(ticket), self.works[ticket]
        self.stretches.append(Stretch(work.name, ticket.owner, ticket.kind, ticket.model, since, self.now))

"""What decisions cost with 100,000 jobs in the queue, and how fair they are over 8 simulated hours.

Shares are measured over 8 simulated hours and until the round that is then open has ended, since nobody can have
half a job; what they were after 8 hours to the second stands in the raw values.
"""

from __future__ import annotations

import random
import statistics
import time
from dataclasses import dataclass, field

from bench.report import arguments, report, spread
from uniun_bots.inference.policy.policy import Policy
from uniun_bots.inference.policy.ticket import Ticket

GANAS = 1000
BATCH = 200
JOB_S = 30.0
HOURS = 8.0
CHAT_EVERY_S = 180.0
CHAT_S = 8.0


# what it costs ----------------------------------------------------------------------------------------


def costs(jobs: int) -> tuple[list[float], list[float]]:
    """Microseconds of a submit and of a pick, both with the decision that follows, each a mean over a batch.

    Processor time: what other programs take meanwhile is not the scheduler's cost.
    """
    policy, now = Policy(), 0.0
    submits, picks = [], []
    for first in range(0, jobs, BATCH):
        tickets = [waiting_ticket(number) for number in range(first, first + BATCH)]
        began = time.process_time()
        for ticket in tickets:
            now += 0.001
            submit(policy, ticket, now)
        submits.append((time.process_time() - began) / BATCH * 1e6)
    for _ in range(0, jobs, BATCH):
        began = time.process_time()
        for _ in range(BATCH):
            now += 0.05
            pick(policy, now)
        picks.append((time.process_time() - began) / BATCH * 1e6)
    return submits, picks


def waiting_ticket(number: int) -> Ticket:
    """One of three wanted by a timer, one of seven for another model."""
    due = float(number % 7200) if number % 3 == 0 else None
    return Ticket("gana", f"gana-{number % GANAS}", f"model-{number % 7 // 6}", due)


def submit(policy: Policy, ticket: Ticket, now: float) -> None:
    policy.add(ticket, now)
    carry_out(policy, now)


def pick(policy: Policy, now: float) -> None:
    for ticket in tuple(policy.running):
        policy.ended(ticket, now)
    carry_out(policy, now)


def carry_out(policy: Policy, now: float) -> None:
    while stopped := policy.decide(now).stop:
        for ticket in stopped:
            policy.gave_way(ticket, now)
    policy.next_change(now)


# how fair it is ---------------------------------------------------------------------------------------


@dataclass(slots=True)
class Day:
    """Ganas that always want more, and somebody who chats now and then, in virtual time."""

    ganas: int
    now: float = 0.0
    policy: Policy = field(default_factory=Policy)
    left_s: dict[Ticket, float] = field(default_factory=dict)
    engine_s: dict[str, float] = field(default_factory=dict)
    since: dict[str, float] = field(default_factory=dict)
    """Since when a Gana waits, in seconds that the Ganas had together."""
    waits_s: list[float] = field(default_factory=list)
    done: dict[str, int] = field(default_factory=dict)

    def begin(self) -> None:
        for number in range(self.ganas):
            name = f"gana-{number}"
            self.engine_s[name], self.done[name], self.since[name] = 0.0, 0, 0.0
            for _ in range(2):
                self.submit("gana", name)
        self.settle()

    def submit(self, kind: str, owner: str) -> None:
        ticket = Ticket("chat" if kind == "chat" else "gana", owner, "model")
        self.left_s[ticket] = CHAT_S if kind == "chat" else JOB_S
        self.policy.add(ticket, self.now)

    def run_until(self, until: float) -> None:
        while self.now < until:
            change = self.policy.next_change(self.now) or until
            ends = [self.now + self.left_s[ticket] for ticket in self.policy.running]
            self.go_to(min([until, change, *ends]))
            for ticket in [one for one in self.policy.running if self.left_s[one] <= 1e-9]:
                self.end(ticket)
            self.settle()

    def go_to(self, at: float) -> None:
        for ticket in self.policy.running:
            self.left_s[ticket] -= at - self.now
            if ticket.kind == "gana":
                self.engine_s[ticket.owner] += at - self.now
        self.now = at

    def end(self, ticket: Ticket) -> None:
        del self.left_s[ticket]
        self.policy.ended(ticket, self.now)
        if ticket.kind == "gana":
            self.done[ticket.owner] += 1
            self.since[ticket.owner] = self.together_s()
            self.submit("gana", ticket.owner)

    def settle(self) -> None:
        while (decision := self.policy.decide(self.now)) and (decision.start or decision.stop):
            for ticket in decision.start:
                if ticket.kind == "gana" and self.left_s[ticket] == JOB_S:
                    self.waits_s.append(self.together_s() - self.since[ticket.owner])
            for ticket in decision.stop:
                self.policy.gave_way(ticket, self.now)

    def together_s(self) -> float:
        return sum(self.engine_s.values())

    def deviation(self) -> float:
        """The largest distance from the equal share, as a part of it."""
        equal = self.together_s() / self.ganas
        return max(abs(seconds - equal) for seconds in self.engine_s.values()) / equal


def day(ganas: int, hours: float) -> tuple[Day, float]:
    """A whole day, and the deviation when its time was over to the second."""
    source, life = random.Random(ganas), Day(ganas)
    life.begin()
    while life.now < hours * 3600:
        life.run_until(min(hours * 3600, life.now + source.expovariate(1 / CHAT_EVERY_S)))
        life.submit("chat", "chat")
        life.settle()
    at_the_second = life.deviation()
    while len(set(life.done.values())) > 1 or any(ticket.kind == "chat" for ticket in life.policy.running):
        life.run_until(life.now + 1.0)
    return life, at_the_second


def main() -> None:
    quick = arguments(__doc__).quick
    submits, picks = costs(20_000 if quick else 100_000)
    raw = {"submit": spread(submits), "pick": spread(picks)}
    report("scheduler.submit", statistics.fmean(submits), len(submits), raw, quick=quick)
    report("scheduler.pick", statistics.fmean(picks), len(picks), raw, quick=quick)
    for ganas in (10, 40):
        life, at_the_second = day(ganas, HOURS)
        seconds = {
            "engine_s": spread(list(life.engine_s.values())),
            "simulated_h": round(life.now / 3600, 3),
            "deviation_after_8_h_to_the_second": round(at_the_second, 4),
            "chat_s": round(life.policy.spent["chat"], 1),
        }
        report(f"scheduler.share_deviation.{ganas}", life.deviation(), ganas, seconds, quick=quick)
        rounds = [round(wait / (JOB_S * (ganas - 1)), 6) for wait in life.waits_s]
        report(f"scheduler.longest_wait.{ganas}", max(rounds), len(rounds), spread(rounds), quick=quick)


if __name__ == "__main__":
    main()

"""The policy against a second one that is too simple to be wrong in the same way."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.inference.dumb_picker import DumbPicker
from uniun_bots.inference.policy.policy import Policy
from uniun_bots.inference.policy.rules import Rules
from uniun_bots.inference.policy.ticket import Ticket

# Small numbers, so that short streams reach every edge; all of them exact as floats.
RULES = Rules(
    grace_s=4.0,
    chat_quiet_s=2.0,
    extract_share=0.5,
    extract_window_s=16,
    extract_slice_s=1.0,
    forget_s=12.0,
    affinity_s=6.0,
)
SEEDS = 40
MOST_AT_ONCE = 30
SECONDS = st.integers(1, 40).map(lambda eighths: eighths / 8)
JOBS = st.fixed_dictionaries(
    {
        "kind": st.sampled_from(["gana"] * 12 + ["extract"] * 6 + ["chat", "switch"]),
        "owner": st.sampled_from("abcd"),
        "model": st.sampled_from("mn"),
        "due": st.none() | st.integers(-8, 8).map(lambda quarters: quarters / 4),
        "foreground": st.sampled_from([False] * 9 + [True]),
        "forced": st.booleans(),
    }
)
ADD = st.tuples(st.just("add"), JOBS)
WAIT = st.tuples(st.just("wait"), SECONDS)
END = st.tuples(st.just("end"), st.integers(0, 9))
RARE = st.one_of(
    st.tuples(st.just("leave"), st.integers(0, 99)),
    st.tuples(st.just("foreground"), st.sampled_from(["a", "b", None])),
    st.tuples(st.just("chat"), st.none()),
    st.tuples(st.just("slow"), st.none()),
)
STEPS = st.lists(st.one_of(ADD, ADD, ADD, WAIT, WAIT, WAIT, END, RARE), max_size=100)


def long_stream(source: random.Random, steps: int) -> Iterator[tuple[str, Any]]:
    """Busier than a list that hypothesis makes: bursts, and then time for them."""
    for _ in range(steps):
        what = source.choices(
            ["add", "wait", "end", "leave", "foreground", "chat", "slow"], [30, 30, 12, 4, 2, 1, 1]
        )[0]
        yield (
            what,
            {
                "add": {
                    "kind": source.choices(["gana", "extract", "chat", "switch"], [24, 8, 1, 1])[0],
                    "owner": source.choice("abcd"),
                    "model": source.choice("mn"),
                    "due": source.choice([None, None, source.randrange(-12, 8) / 2]),
                    "foreground": source.random() < 0.05,
                    "forced": source.random() < 0.3,
                },
                "wait": source.randrange(1, 40) / 8,
                "foreground": source.choice(["a", "b", None, None]),
            }.get(what, source.randrange(100)),
        )


class Pair:
    """Both get the same news, and have to say the same."""

    def __init__(self, slots: int) -> None:
        self.clever, self.dumb = Policy(RULES, slots), DumbPicker(RULES, slots)
        self.now = 100.0
        self.dumb.now = self.now
        self.waiting: list[Ticket] = []
        self.running: list[Ticket] = []
        self.stopping: list[Ticket] = []
        self.turn_open = False
        self.slow = False
        """Whether what was told to stop takes its time."""

    def step(self, what: str, given: Any) -> None:
        if what == "add":
            self.add(given)
        elif what == "wait":
            self.wait(given)
        elif what == "slow":
            self.slow = not self.slow
        elif what == "end" and self.running:
            self.both("ended", self.running.pop(given % len(self.running)))
        elif what == "leave" and self.waiting:
            self.both("remove", self.waiting.pop(given % len(self.waiting)))
        elif what == "foreground":
            self.clever.set_foreground(given, self.now)
            self.dumb.set_foreground(given, self.now)
        elif what == "chat":
            self.turn()
        self.compare()

    def add(self, given: dict[str, Any]) -> None:
        kind = given["kind"]
        ticket = Ticket(
            kind,
            given["owner"] if kind == "gana" else kind,
            given["model"],
            None if given["due"] is None or kind != "gana" else self.now + given["due"],
            given["foreground"],
            given["forced"] and kind == "switch",
        )
        self.waiting.append(ticket)
        self.both("add", ticket)

    def turn(self) -> None:
        self.turn_open = not self.turn_open
        if self.turn_open:
            self.clever.begin_chat()
            self.dumb.begin_chat()
        else:
            self.clever.end_chat(self.now)
            self.dumb.end_chat(self.now)

    def wait(self, seconds: float) -> None:
        """Stopping at every moment that the policy wants to be asked at."""
        until = self.now + seconds
        while (change := self.clever.next_change(self.now)) is not None and change < until:
            self.now = change
            self.compare()
        self.now = until

    def both(self, name: str, ticket: Ticket) -> None:
        getattr(self.clever, name)(ticket, self.now)
        getattr(self.dumb, name)(ticket, self.now)

    def compare(self) -> None:
        for _ in range(MOST_AT_ONCE):
            decision = self.clever.decide(self.now)
            started, stopped = self.dumb.decide(self.now)
            assert [ticket.order for ticket in decision.start] == [ticket.order for ticket in started]
            assert sorted(ticket.order for ticket in decision.stop) == sorted(
                ticket.order for ticket in stopped
            )
            self.follow(started, stopped)
            if not (started or stopped or (self.stopping and not self.slow)):
                return
            if not self.slow:
                self.let_go()
        raise AssertionError("it starts and stops the same jobs for ever")

    def follow(self, started: list[Ticket], stopped: list[Ticket]) -> None:
        for ticket in started:
            self.waiting.remove(ticket)
            self.running.append(ticket)
        for ticket in stopped:
            self.running.remove(ticket)
            self.stopping.append(ticket)

    def let_go(self) -> None:
        for ticket in self.stopping:
            self.both("gave_way" if ticket.comes_back else "ended", ticket)
            if ticket.comes_back:
                self.waiting.append(ticket)
        self.stopping = []


@settings(max_examples=200, deadline=None)
@given(STEPS, st.integers(1, 3))
def test_it_decides_as_a_naive_one_does(steps: list[tuple[str, Any]], slots: int) -> None:
    pair = Pair(slots)
    for what, details in steps:
        pair.step(what, details)


@pytest.mark.parametrize("seed", range(SEEDS))
def test_it_decides_as_a_naive_one_does_in_a_long_life(seed: int) -> None:
    source = random.Random(seed)
    pair = Pair(slots=1 + seed % 3)
    for what, details in long_stream(source, 250):
        pair.step(what, details)

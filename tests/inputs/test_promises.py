"""Notes arrive and turns end in any order: nothing is lost, nothing is answered twice."""

from __future__ import annotations

import random
import sqlite3
from collections import Counter

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.factory import ALICE, BOB, BOT, CAROL, CHANNEL, gana, hosted, message
from tests.inputs.scene import Scene
from tests.stores import undone
from uniun_bots.graph.note import Note
from uniun_bots.inputs.take import MOST_NOTES
from uniun_bots.inputs.turn import Turn
from uniun_bots.nostr.event import Event

ENDINGS = ("succeeded", "silent", "exhausted", "malformed")
LIMITS = {
    "per_hour": 1_000_000,
    "per_day": 1_000_000,
    "per_thread": 1_000_000,
    "per_author_per_hour": 1_000_000,
}


class Life:
    """A host's life by dice: what happens next, and how each turn ends."""

    def __init__(
        self, tx: sqlite3.Connection, dice: random.Random, batch: str, limits: dict[str, int]
    ) -> None:
        given = {"type": "group", "ref": CHANNEL, "batch": batch}
        self.scene = Scene(tx, hosted(gana(limits=limits, input=given)))
        self.dice, self.batch = dice, batch
        self.events: list[Event] = []
        self.under_way: list[Turn] = []
        self.low = 0

    def hear(self) -> None:
        for _ in range(self.dice.randint(1, 8)):
            text = f"n{len(self.events)}" + self.dice.choice(("", "", " #nobot"))
            above = self.dice.choice(self.events) if self.events and self.dice.random() < 0.3 else None
            author = self.dice.choice((ALICE, BOB, CAROL, BOT))
            event = message(text, answers=above, author=author, at=int(self.scene.now))
            self.events.append(event)
            self.scene.hear(event, *self.dice.sample(self.events, k=min(2, len(self.events))))

    def take(self) -> bool:
        turn = self.scene.look().turn
        if turn is None:
            return False
        seqs = [note.seq for note in turn.notes]
        assert seqs == sorted(seqs)
        assert 1 <= len(turn.notes) <= MOST_NOTES
        assert not {note.id for note in turn.notes} & {n.id for one in self.under_way for n in one.notes}
        if self.batch == "turn":
            authors = {note.author for note in turn.notes}
            assert len(authors) == 1, "one author"
            assert not authors & {note.author for one in self.under_way for note in one.notes}, (
                "one at a time"
            )
            assert len({self.thread(note) for note in turn.notes}) == 1, "one thread"
        self.under_way.append(turn)
        return True

    def thread(self, note: Note) -> str:
        """The top of its chain; what stands straight in the channel stands together."""
        while note.parent is not None:
            above = next(event for event in self.events if event.id == note.parent)
            note = self.scene.note(above)
            if note.parent is None:
                return note.id
        return "channel"

    def end_one(self, fails: float) -> None:
        turn = self.under_way.pop(self.dice.randrange(len(self.under_way)))
        if self.dice.random() < fails:
            assert turn.attempt <= 5
            self.scene.fail(turn)
        else:
            self.scene.close(turn, self.dice.choice(ENDINGS))

    def crash(self) -> None:
        """Whatever was under way is gone; rows are all that is left."""
        self.under_way.clear()
        self.scene.running.clear()

    def step(self) -> None:
        choice = self.dice.random()
        if choice < 0.35:
            self.hear()
        elif choice < 0.65:
            self.take()
        elif choice < 0.9 and self.under_way:
            self.end_one(fails=0.3)
        elif choice < 0.93:
            self.crash()
        else:
            self.scene.now += self.dice.choice((1, 10, 700))
        self.check_cursor()

    def check_cursor(self) -> None:
        low = self.scene.cursor()
        assert low >= self.low, "never back"
        self.low = low
        decided = {key for key, _ in self.scene.decisions()}
        waiting = [self.scene.note(event).seq for event in self.inputs() if event.id not in decided]
        assert all(seq >= low for seq in waiting), "never past what is undecided"

    def inputs(self) -> list[Event]:
        return [event for event in self.events if event.author != BOT]

    def finish(self) -> None:
        while self.under_way or self.scene.pending():
            while self.take():
                pass
            while self.under_way:
                self.end_one(fails=0.1)
            self.scene.now += 700


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    seed=st.integers(0, 2**32),
    batch=st.sampled_from(["turn", "all"]),
    limits=st.sampled_from([LIMITS, {}]),
    steps=st.integers(1, 60),
)
def test_every_input_ends_with_exactly_one_decision(
    tx: sqlite3.Connection, seed: int, batch: str, limits: dict[str, int], steps: int
) -> None:
    with undone(tx):
        life = Life(tx, random.Random(seed), batch, limits)
        for _ in range(steps):
            life.step()
        life.finish()
        decided = Counter(key for key, _ in life.scene.decisions())
        assert decided == Counter(event.id for event in life.inputs())
        top = max((life.scene.note(event).seq for event in life.inputs()), default=0)
        assert life.scene.cursor() > top

"""One Gana on one surface, step by step: what the host does around the units of this room, without a host."""

from __future__ import annotations

import itertools
import sqlite3
from collections.abc import Collection

from tests.factory import BOT, NOW, heard, hosted, message
from uniun_bots.graph.find import note_by_id
from uniun_bots.graph.keep import keep
from uniun_bots.graph.note import Note
from uniun_bots.graph.profiles import mark_checked
from uniun_bots.inputs.budgets import Running
from uniun_bots.inputs.cursors import advance, cursor, own_keys, pending
from uniun_bots.inputs.decided import decide
from uniun_bots.inputs.enabled import turn_on
from uniun_bots.inputs.retries import put_off
from uniun_bots.inputs.take import choose, write_down
from uniun_bots.inputs.taken import Asked, Taken
from uniun_bots.inputs.turn import Turn
from uniun_bots.nostr.event import Event
from uniun_bots.personas.hosted import HostedGana


class Scene:
    """On since NOW. Authors count as looked up unless `known` is off."""

    def __init__(
        self, tx: sqlite3.Connection, given: HostedGana | None = None, own: Collection[str] = (BOT,)
    ) -> None:
        self.tx, self.hosted, self.now = tx, given or hosted(), float(NOW)
        self.surface = self.hosted.surface or "timer"
        self.own = own_keys(own)
        self.running: dict[str, Running] = {}
        self._runs = itertools.count(1)
        turn_on(tx, self.gana, NOW)

    @property
    def gana(self) -> str:
        return self.hosted.id

    def hear(self, *events: Event, known: bool = True) -> list[Note]:
        keep(self.tx, heard(*events, at=self.now))
        if known:
            mark_checked(self.tx, {event.author for event in events}, self.now)
        return [self.note(event) for event in events if event.kind in (1, 42)]

    def say(self, *texts: str) -> list[Note]:
        return self.hear(*(message(text) for text in texts))

    def note(self, event: Event) -> Note:
        found = note_by_id(self.tx, event.id)
        assert found is not None
        return found

    def look(self, due: int | None = None, looked_for: Collection[str] = (), most: int = 1) -> Taken:
        running = tuple(self.running.values())
        asked = Asked(self.hosted, self.surface, due, self.now, self.own, running, looked_for, most)
        taken = choose(self.tx, asked)
        if taken.held or taken.mutes:
            write_down(self.tx, asked, taken)
        if taken.turn and taken.running:
            self.running[taken.turn.key] = taken.running
        self.running |= {turn.key: running for turn, running in taken.others}
        return taken

    def take(self, due: int | None = None) -> Turn:
        turn = self.look(due).turn
        assert turn is not None, "nothing was taken"
        return turn

    def texts(self, due: int | None = None) -> list[str]:
        """Of the turn that is taken now; empty when none is."""
        turn = self.look(due).turn
        return [note.text for note in turn.notes] if turn else []

    def close(self, turn: Turn, ending: str = "succeeded") -> bool:
        """Whether more is pending."""
        running = self.running.pop(turn.key)
        decide(self.tx, turn, run=next(self._runs), ending=ending, thread=running.thread, now=self.now)
        return advance(self.tx, self.gana, self.surface, self.own)

    def fail(self, turn: Turn) -> float | None:
        """When it is tried again; a dead letter is decided, as close does."""
        again = put_off(self.tx, turn, "the model is gone", self.now)
        if again is None:
            self.close(turn, "dead")
        else:
            self.running.pop(turn.key)
            advance(self.tx, self.gana, self.surface, self.own)
        return again

    def answer(self, *texts: str) -> Turn:
        self.say(*texts)
        turn = self.take()
        self.close(turn)
        return turn

    def cursor(self) -> int:
        return cursor(self.tx, self.gana, self.surface)

    def pending(self) -> list[str]:
        return [note.text for note in pending(self.tx, self.gana, self.surface, self.own, most=1000)]

    def held(self) -> dict[str, str]:
        """Text of the note to the setting that decided."""
        rows = self.tx.execute(
            "SELECT n.text, h.setting FROM held h JOIN notes n ON n.id = h.note_id WHERE h.gana = ?",
            (self.gana,),
        )
        return {row[0]: row[1] for row in rows}

    def decisions(self) -> list[tuple[str, str]]:
        """(note id, ending), of every row; a note that was decided twice stands there twice."""
        rows = self.tx.execute(
            "SELECT key, ending FROM answered WHERE gana = ? UNION ALL SELECT note_id, 'held' FROM held"
            " WHERE gana = ?",
            (self.gana, self.gana),
        )
        return [(row[0], row[1]) for row in rows]

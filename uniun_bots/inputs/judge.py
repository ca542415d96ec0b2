"""What the guards need to know of a page of notes, and what they say of each."""

from __future__ import annotations

import sqlite3

from uniun_bots.graph.find import Ancestry, ancestry
from uniun_bots.graph.note import Note
from uniun_bots.graph.profiles import fresh_profiles
from uniun_bots.inputs.budgets import Budgets
from uniun_bots.inputs.covered import answered_elsewhere
from uniun_bots.inputs.cursors import pending_authors
from uniun_bots.inputs.enabled import Standing
from uniun_bots.inputs.guards import Facts, asks_to_stop, first_held
from uniun_bots.inputs.held import Held
from uniun_bots.inputs.taken import Asked, Needs
from uniun_bots.nostr.profile import Profile
from uniun_bots.nostr.surfaces import Surface, audience_of
from uniun_bots.nostr.threads import CHANNEL_MESSAGE
from uniun_bots.personas.gana import Batch

MOST_AUTHORS = 400


class Judge:
    """Looks everything up once for the page."""

    def __init__(self, tx: sqlite3.Connection, asked: Asked, state: Standing, page: list[Note]) -> None:
        self.tx, self.asked, self.state = tx, asked, state
        self.gana = asked.hosted.gana
        surface = Surface.parse(asked.hosted.surface or "")
        self.followed = surface.ref if surface.kind == "thread" else None
        self.everything = bool(self.gana.input and self.gana.input.batch is Batch.ALL)
        authors = {note.author for note in page}
        self.profiles: dict[str, Profile] = fresh_profiles(tx, authors, asked.now)
        self.muted = {
            row[0] for row in tx.execute("SELECT author FROM mutes WHERE gana = ?", (self.gana.id,))
        }
        self.mutes: list[tuple[str, str]] = []
        self.budgets = Budgets(tx, self.gana.id, self.gana.limits, asked.now)
        audience = audience_of(asked.surface)
        self.above: dict[str, Ancestry] = {note.id: ancestry(tx, note, audience) for note in page}
        self.needs = self._needs(authors)
        oldest = min(note.created_at for note in page)
        self.elsewhere = answered_elsewhere(tx, self.gana.id, asked.surface, oldest)
        self.above |= {note.id: ancestry(tx, note, audience) for note in self.elsewhere}

    def _needs(self, authors: set[str]) -> Needs | None:
        profiles = authors - self.profiles.keys()
        if profiles:
            # One question for everybody who waits, instead of one for each page.
            waiting = pending_authors(
                self.tx, self.gana.id, self.asked.surface, self.asked.own, most=MOST_AUTHORS
            )
            profiles |= waiting - fresh_profiles(self.tx, waiting, self.asked.now).keys()
        notes: set[str] = set()
        if (self.asked.hosted.surface or "").startswith("mentions:"):
            notes = {above.missing for above in self.above.values() if above.missing and not above.notes}
            notes -= set(self.asked.looked_for)
        return Needs(tuple(sorted(profiles)), tuple(sorted(notes))) if profiles or notes else None

    def held(self, note: Note, *, budgets: bool = True) -> Held | None:
        if any(self._covers(later, note) for later in self.elsewhere):
            return Held(note.id, "a later note was answered for both with the same key elsewhere", "identity")
        facts = self._facts(note)
        if not facts.muted and asks_to_stop(note, facts):
            self._mute(note)
            return Held(note.id, "its author asked us to stop", "stop")
        if verdict := first_held(note, facts):
            return verdict
        if not budgets:
            return None
        return self.budgets.used_up(self.asked.running, note, self.thread(note))

    def asks_to_stop(self, note: Note) -> bool:
        return asks_to_stop(note, self._facts(note))

    def _covers(self, later: Note, note: Note) -> bool:
        """Whether a turn that was answered at `later` had this note in it, or one before had."""
        if note.created_at > later.created_at:
            return False
        if self.everything or not self.gana.trigger.by_message:
            return True
        return later.author == note.author and self.together(later) == self.together(note)

    def _facts(self, note: Note) -> Facts:
        ancestors = self.above[note.id].notes
        parent = ancestors[-1] if ancestors else None
        return Facts(
            hosted=self.asked.hosted,
            standing=self.state,
            now=self.asked.now,
            profile=self.profiles.get(note.author),
            parent=parent,
            parent_mentioned_us=parent is not None and self._mentioned(parent),
            ancestors=ancestors,
            muted=note.author in self.muted,
        )

    def _mentioned(self, parent: Note) -> bool:
        found = self.tx.execute(
            "SELECT 1 FROM surfaces WHERE surface = ? AND seq = ?", (self.asked.surface, parent.seq)
        )
        return found.fetchone() is not None

    def _mute(self, note: Note) -> None:
        self.muted.add(note.author)
        self.mutes.append((note.author, note.id))

    def thread(self, note: Note) -> str:
        """The note at the top of its reply chain, as far as we know it: what `per_thread` counts by."""
        above = self.above[note.id]
        if self.followed is not None:
            return self._branch(note, above)
        top = above.notes[0] if above.notes else note
        # Some clients tag no root but what they answer, so the chain comes first.
        return top.root if top.kind != CHANNEL_MESSAGE and top.root else above.missing or top.id

    def _branch(self, note: Note, above: Ancestry) -> str:
        """Under a followed note everything is one thread: what counts is the answer to it where the chain begins."""
        ids = [one.id for one in above.notes]
        below = ids[ids.index(self.followed) + 1 :] if self.followed in ids else ids
        return below[0] if below else note.id

    def together(self, note: Note) -> str:
        """What a turn groups by: messages straight into a channel, and straight below a followed note, belong
        together, all else goes by thread."""
        straight = (
            note.parent == self.followed
            if self.followed
            else not note.parent and note.kind == CHANNEL_MESSAGE
        )
        return "top" if straight else self.thread(note)

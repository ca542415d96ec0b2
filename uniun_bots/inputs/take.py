"""take: wakeup -> Turn, with everything the guards hold on the way.

`choose` only reads. What it needs from relays first (an unknown author's profile, a missing parent) it names as
Needs; `take` fetches that, at most FETCH_S, and asks again. What the guards held is written by `write_down`.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass, field

from uniun_bots.database.store import Store
from uniun_bots.graph.find import Ancestry, ancestry
from uniun_bots.graph.note import Note
from uniun_bots.graph.profiles import fresh_profiles, mark_checked
from uniun_bots.inputs.budgets import Running, over_budget
from uniun_bots.inputs.covered import answered_elsewhere
from uniun_bots.inputs.cursors import advance, pending, pending_authors
from uniun_bots.inputs.decided import hold
from uniun_bots.inputs.enabled import Standing, standing
from uniun_bots.inputs.guards import Facts, asks_to_stop, first_held
from uniun_bots.inputs.held import Held
from uniun_bots.inputs.retries import waiting
from uniun_bots.inputs.turn import Turn
from uniun_bots.nostr.profile import Profile
from uniun_bots.nostr.threads import CHANNEL_MESSAGE
from uniun_bots.personas.gana import Batch, Trigger
from uniun_bots.personas.hosted import HostedGana

MOST_NOTES = 20
PAGE = 32
MOST_AUTHORS = 400
FETCH_S = 2.0


@dataclass(frozen=True, slots=True)
class Needs:
    """What must be looked up on relays before the next note can be judged."""

    profiles: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Taken:
    turn: Turn | None = None
    running: Running | None = None
    """What to enter among the running turns when there is a turn."""
    held: tuple[Held, ...] = ()
    mutes: tuple[tuple[str, str], ...] = ()
    """Authors who asked us to stop, with the note that says so."""
    more: bool = False
    """More is pending that could be taken at once."""
    next_at: float | None = None
    """When a failed turn may be tried again."""
    needs: Needs | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """One take: which Gana, where, and what is under way."""

    hosted: HostedGana
    surface: str
    due: int | None
    now: float
    own: str
    """JSON list of every hosted public key."""
    running: tuple[Running, ...] = ()
    looked_for: Collection[str] = field(default=())
    """Note ids that were already asked for without success."""


def choose(tx: sqlite3.Connection, asked: Asked) -> Taken:
    gana, now = asked.hosted.gana, asked.now
    state = standing(tx, gana.id)
    if not state.enabled or state.paused:
        return Taken()
    if asked.due is not None or not gana.trigger.by_message:
        return _for_timer(tx, asked, state)
    if gana.trigger is Trigger.ONCE_ON_FIRST_MESSAGE and asked.running:
        return Taken()
    return _for_messages(tx, asked, state, waiting(tx, gana.id), now)


def _for_messages(
    tx: sqlite3.Connection,
    asked: Asked,
    state: Standing,
    retries: dict[str, tuple[int, float]],
    now: float,
) -> Taken:
    gana = asked.hosted.gana
    held: list[Held] = []
    mutes: list[tuple[str, str]] = []
    next_at: float | None = None
    after = 0
    passed_over = _passed_over(asked)
    while page := pending(tx, gana.id, asked.surface, passed_over, after=after, most=PAGE):
        after = page[-1].seq
        judge = _Judge(tx, asked, state, page)
        if judge.needs:
            return Taken(needs=judge.needs, held=tuple(held), mutes=tuple(mutes))
        for at, note in enumerate(page):
            if _under_way(note, asked.running):
                continue
            attempts, not_before = retries.get(note.id, (0, 0.0))
            if not_before > now:
                next_at = min(next_at or not_before, not_before)
                continue
            if verdict := judge.held(note):
                held.append(verdict)
                continue
            turn, rest_held = _fill(judge, note, page[at + 1 :], asked, attempts + 1)
            running = Running(gana.id, asked.surface, turn.keys, note.author, judge.thread(note))
            return Taken(turn, running, tuple(held + rest_held), tuple(mutes + judge.mutes), more=True)
        mutes += judge.mutes
    return Taken(held=tuple(held), mutes=tuple(mutes), next_at=next_at)


def _for_timer(tx: sqlite3.Connection, asked: Asked, state: Standing) -> Taken:
    """Everything pending that the guards let pass, at most MOST_NOTES; or nothing, for a standalone Gana."""
    gana = asked.hosted.gana
    if asked.due is None:
        return Taken()
    key = f"due:{asked.due}"
    if tx.execute("SELECT 1 FROM answered WHERE gana = ? AND key = ?", (gana.id, key)).fetchone():
        return Taken()
    attempts, not_before = waiting(tx, gana.id).get(key, (0, 0.0))
    if not_before > asked.now:
        return Taken(next_at=not_before)
    notes: list[Note] = []
    held: list[Held] = []
    mutes: list[tuple[str, str]] = []
    after = 0
    while (
        gana.input is not None
        and len(notes) < MOST_NOTES
        and (page := pending(tx, gana.id, asked.surface, asked.own, after=after, most=PAGE))
    ):
        after = page[-1].seq
        judge = _Judge(tx, asked, state, page)
        if judge.needs:
            return Taken(needs=judge.needs, held=tuple(held), mutes=tuple(mutes))
        for note in page:
            if verdict := judge.held(note, budgets=False):
                held.append(verdict)
            elif len(notes) < MOST_NOTES and not _under_way(note, asked.running):
                notes.append(note)
        mutes += judge.mutes
    over = over_budget(tx, gana.id, gana.limits, asked.running, asked.now, note=None, thread="")
    turn = Turn(gana.id, asked.surface, tuple(notes), asked.due, attempts + 1)
    if over or (gana.input is not None and not notes):
        return Taken(held=tuple(held), mutes=tuple(mutes))
    return Taken(turn, Running(gana.id, asked.surface, turn.keys, "", ""), tuple(held), tuple(mutes))


def _passed_over(asked: Asked) -> str:
    """JSON list of us and of those whose turn is under way: thousands of their notes may wait behind it."""
    busy = {one.author for one in asked.running if one.author}
    return json.dumps([*json.loads(asked.own), *busy]) if busy else asked.own


def _under_way(note: Note, running: Collection[Running]) -> bool:
    """Its own turn, or another one of its author here: an author's turns are answered one after the other."""
    return any(note.id in one.keys or (note.author and note.author == one.author) for one in running)


def _fill(judge: _Judge, head: Note, rest: list[Note], asked: Asked, attempt: int) -> tuple[Turn, list[Held]]:
    """Later pending notes of the same author and thread join the head's turn."""
    together = judge.everything or judge.together(head)
    notes, held = [head], []
    for note in rest:
        if len(notes) == MOST_NOTES or not (judge.everything or judge.together(note) == together):
            continue
        if not judge.everything and note.author != head.author:
            continue
        if _under_way(note, asked.running):
            continue
        if verdict := judge.held(note, budgets=False):
            held.append(verdict)
        else:
            notes.append(note)
    return Turn(asked.hosted.id, asked.surface, tuple(notes), None, attempt), held


class _Judge:
    """What the guards need to know of a page of notes, looked up once."""

    def __init__(self, tx: sqlite3.Connection, asked: Asked, state: Standing, page: list[Note]) -> None:
        self.tx, self.asked, self.state = tx, asked, state
        self.gana = asked.hosted.gana
        self.everything = bool(self.gana.input and self.gana.input.batch is Batch.ALL)
        authors = {note.author for note in page}
        self.profiles: dict[str, Profile] = fresh_profiles(tx, authors, asked.now)
        self.muted = {
            row[0] for row in tx.execute("SELECT author FROM mutes WHERE gana = ?", (self.gana.id,))
        }
        self.mutes: list[tuple[str, str]] = []
        self.above: dict[str, Ancestry] = {note.id: ancestry(tx, note) for note in page}
        self.needs = self._needs(authors)
        oldest = min(note.created_at for note in page)
        self.elsewhere = answered_elsewhere(tx, self.gana.id, asked.surface, oldest)
        self.above |= {note.id: ancestry(tx, note) for note in self.elsewhere}

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
        limits = self.gana.limits
        return over_budget(
            self.tx,
            self.gana.id,
            limits,
            self.asked.running,
            self.asked.now,
            note=note,
            thread=self.thread(note),
        )

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
        top = above.notes[0] if above.notes else note
        # Some clients tag no root but what they answer, so the chain comes first.
        return top.root if top.kind != CHANNEL_MESSAGE and top.root else above.missing or top.id

    def together(self, note: Note) -> str:
        """What a turn groups by: messages straight into a channel belong together, all else goes by thread."""
        return self.thread(note) if note.parent or note.kind != CHANNEL_MESSAGE else "top"


Find = Callable[[Needs, float], Awaitable[None]]
"""Look on relays for at most so many seconds and keep what is found."""


async def take(store: Store, ask: Callable[[Collection[str]], Asked], find: Find) -> Taken:
    """`ask` gives the question as of now."""
    looked_for: set[str] = set()
    while True:
        asked = ask(frozenset(looked_for))
        taken = await store.read(lambda tx, asked=asked: choose(tx, asked))  # type: ignore[misc]
        if taken.held or taken.mutes:
            await store.write(lambda tx, a=asked, t=taken: write_down(tx, a, t))  # type: ignore[misc]
        if taken.needs is None:
            return taken
        await find(taken.needs, FETCH_S)
        looked_for.update(taken.needs.notes)


def write_down(tx: sqlite3.Connection, asked: Asked, taken: Taken) -> None:
    """What the guards decided, and the cursor over it."""
    gana = asked.hosted.id
    hold(tx, gana, taken.held, asked.now)
    tx.executemany(
        "INSERT OR IGNORE INTO mutes (gana, author, note_id, at) VALUES (?, ?, ?, ?)",
        [(gana, author, note_id, asked.now) for author, note_id in taken.mutes],
    )
    advance(tx, gana, asked.surface, asked.own)


def remember_asked(tx: sqlite3.Connection, needs: Needs, now: float) -> None:
    mark_checked(tx, needs.profiles, now)


def own_keys(pubkeys: Collection[str]) -> str:
    return json.dumps(sorted(pubkeys))

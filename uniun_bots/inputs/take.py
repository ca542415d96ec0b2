"""take: wakeup -> Turn, with everything the guards hold on the way.

`choose` only reads. What it needs from relays first (an unknown author's profile, a missing parent) it names as
Needs; `take` fetches that, at most FETCH_S, and asks again. What the guards held is written by `write_down`.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Awaitable, Callable, Collection
from dataclasses import replace

from uniun_bots.database.store import Store
from uniun_bots.graph.note import Note
from uniun_bots.inputs.budgets import Budgets, Running
from uniun_bots.inputs.cursors import advance, pending
from uniun_bots.inputs.decided import hold
from uniun_bots.inputs.enabled import Standing, standing
from uniun_bots.inputs.held import Held
from uniun_bots.inputs.judge import Judge
from uniun_bots.inputs.retries import waiting
from uniun_bots.inputs.taken import Asked, Needs, Taken
from uniun_bots.inputs.turn import Turn
from uniun_bots.personas.gana import Trigger

MOST_NOTES = 20
PAGE = 32
FETCH_S = 2.0


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
    found: list[tuple[Turn, Running]] = []
    held: list[Held] = []
    mutes: list[tuple[str, str]] = []
    next_at: float | None = None
    after = 0
    passed_over = _passed_over(asked)
    while not found and (page := pending(tx, gana.id, asked.surface, passed_over, after=after, most=PAGE)):
        after = page[-1].seq
        judge = Judge(tx, asked, state, page)
        if judge.needs:
            return Taken(needs=judge.needs, held=tuple(held), mutes=tuple(mutes))
        for at, note in enumerate(page):
            if len(found) == asked.most:
                break
            if _under_way(note, judge.asked.running):
                continue
            attempts, not_before = retries.get(note.id, (0, 0.0))
            if not_before > now:
                next_at = min(next_at or not_before, not_before)
                continue
            if verdict := judge.held(note):
                held.append(verdict)
                continue
            turn, rest_held = _fill(judge, note, page[at + 1 :], judge.asked, attempts + 1)
            held += rest_held
            running = Running(gana.id, asked.surface, turn.keys, note.author, judge.thread(note))
            found.append((turn, running))
            judge.asked = replace(judge.asked, running=(*judge.asked.running, running))
        mutes += judge.mutes
    if not found:
        return Taken(held=tuple(held), mutes=tuple(mutes), next_at=next_at)
    return Taken(*found[0], tuple(found[1:]), tuple(held), tuple(mutes), more=True)


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
        judge = Judge(tx, asked, state, page)
        if judge.needs:
            return Taken(needs=judge.needs, held=tuple(held), mutes=tuple(mutes))
        for note in page:
            if verdict := judge.held(note, budgets=False):
                held.append(verdict)
            elif len(notes) < MOST_NOTES and not _under_way(note, asked.running):
                notes.append(note)
        mutes += judge.mutes
    over = Budgets(tx, gana.id, gana.limits, asked.now).used_up(asked.running)
    turn = Turn(gana.id, asked.surface, tuple(notes), asked.due, attempts + 1)
    if over or (gana.input is not None and not notes):
        return Taken(held=tuple(held), mutes=tuple(mutes))
    running = Running(gana.id, asked.surface, turn.keys, "", "")
    return Taken(turn, running, held=tuple(held), mutes=tuple(mutes))


def _passed_over(asked: Asked) -> str:
    """JSON list of us and of those whose turn is under way: thousands of their notes may wait behind it."""
    busy = {one.author for one in asked.running if one.author}
    return json.dumps([*json.loads(asked.own), *busy]) if busy else asked.own


def _under_way(note: Note, running: Collection[Running]) -> bool:
    """Its own turn, or another one of its author here: an author's turns are answered one after the other."""
    return any(note.id in one.keys or (note.author and note.author == one.author) for one in running)


def _fill(judge: Judge, head: Note, rest: list[Note], asked: Asked, attempt: int) -> tuple[Turn, list[Held]]:
    """Later pending notes of the same author and thread join the head's turn."""
    together = judge.everything or judge.together(head)
    notes, held = [head], []
    for note in rest:
        if len(notes) == MOST_NOTES:
            break
        if not judge.everything and (note.author != head.author or judge.together(note) != together):
            continue
        if _under_way(note, asked.running):
            continue
        if verdict := judge.held(note, budgets=False):
            held.append(verdict)
        else:
            notes.append(note)
    return Turn(asked.hosted.id, asked.surface, tuple(notes), None, attempt), held


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

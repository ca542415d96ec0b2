"""accept: the second transaction of mode `approve`. The outbox, our own note and the yes, or nothing of it."""

from __future__ import annotations

import sqlite3

from uniun_bots import failpoints
from uniun_bots.approvals.approval import Approval, State
from uniun_bots.approvals.payload import Payload, Unsigned
from uniun_bots.approvals.queue import settle, waiting
from uniun_bots.errors import UniunError
from uniun_bots.graph.keep import keep_note
from uniun_bots.publishing.outbox import enqueue
from uniun_bots.publishing.pinned import Pinned


class Reworded(UniunError):
    """Somebody changed the text while it was being signed: the yes was meant for another one."""


def accept(
    tx: sqlite3.Connection, number: int, agreed: Payload, pinned: Pinned | None, now: float
) -> Approval:
    """As it is settled: accepted, or what stood in the way. `agreed`: what the yes was said to.

    Raises NotFound, Settled and Reworded.
    """
    found = waiting(tx, number)
    if found.payload != agreed:
        raise Reworded(f"the text of approval {number} was changed meanwhile: look at it again")
    if hindered := hindrance(tx, found, now):
        return settle(tx, number, *hindered, now)
    settled = settle(tx, number, State.ACCEPTED, "", now, pinned.event.id if pinned else None)
    if pinned:
        enqueue(tx, pinned, found.gana, found.run, now)
        keep_note(tx, pinned.event, "own", now)
        tx.execute("UPDATE runs SET event_id = ? WHERE run = ?", (pinned.event.id, found.run))
    failpoints.hit("accepting")
    return settled


def hindrance(tx: sqlite3.Connection, found: Approval, now: float) -> tuple[State, str] | None:
    """Why a yes cannot be followed any more."""
    if found.expires_at <= now:
        return State.EXPIRED, "nobody decided in time"
    if found.answers and _deleted(tx, found.answers):
        return State.WITHDRAWN, "the note it answers was deleted by its author"
    if isinstance(found.payload, Unsigned) and _answered_elsewhere(tx, found.payload, found.answers):
        return State.WITHDRAWN, "the same key answered that note elsewhere"
    if found.asker and _muted(tx, found.gana, found.asker):
        return State.MUTED, "the author of the note asked this Gana to stop"
    return None


def _deleted(tx: sqlite3.Connection, note_id: str) -> bool:
    row = tx.execute("SELECT deleted FROM notes WHERE id = ?", (note_id,)).fetchone()
    return bool(row and row[0])


def _answered_elsewhere(tx: sqlite3.Connection, unsigned: Unsigned, note_id: str | None) -> bool:
    """The input is decided by our own run already, so a reply of another client shows as a note only."""
    found = tx.execute(
        "SELECT 1 FROM edges e JOIN notes n USING (seq)"
        " WHERE e.target = ? AND e.kind = 'reply' AND n.origin = 'relay' AND n.author = ?",
        (note_id, unsigned.author),
    )
    return found.fetchone() is not None


def _muted(tx: sqlite3.Connection, gana: str, author: str) -> bool:
    found = tx.execute("SELECT 1 FROM mutes WHERE gana = ? AND author = ?", (gana, author))
    return found.fetchone() is not None

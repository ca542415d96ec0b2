"""The queue as rows: looking, settling, rewording, and what is due. A row is settled once."""

from __future__ import annotations

import sqlite3
from dataclasses import replace

from uniun_bots.approvals.approval import Approval, Settled, State, as_approval
from uniun_bots.approvals.payload import Action, Payload, Unsigned, written
from uniun_bots.errors import NotFound

KEEP_S = 90 * 86_400.0


def approval(tx: sqlite3.Connection, number: int) -> Approval:
    """Raises NotFound."""
    row = tx.execute("SELECT * FROM approvals WHERE number = ?", (number,)).fetchone()
    if row is None:
        raise NotFound(f"there is no approval {number}; see `uniun-bots approvals list --all`")
    return as_approval(row)


def waiting(tx: sqlite3.Connection, number: int) -> Approval:
    """Raises NotFound, and Settled when it does not wait any more."""
    found = approval(tx, number)
    if found.state is not State.WAITING:
        why = f": {found.reason}" if found.reason else ""
        raise Settled(f"approval {number} is {found.state} already{why}")
    return found


def approvals(tx: sqlite3.Connection, *, everything: bool = False) -> list[Approval]:
    """Oldest first: those that wait, or with `everything` all that are kept."""
    rows = tx.execute(
        "SELECT * FROM approvals WHERE ? OR state = ? ORDER BY number", (everything, State.WAITING)
    )
    return [as_approval(row) for row in rows]


def approvals_about(tx: sqlite3.Connection, gana: str, key: str, run: int | None) -> list[Approval]:
    """What a run led to, and what a skill proposed while this input was answered."""
    rows = tx.execute(
        "SELECT * FROM approvals WHERE run = ? OR (gana = ? AND key = ?) ORDER BY number", (run, gana, key)
    )
    return [as_approval(row) for row in rows]


def waiting_count(tx: sqlite3.Connection, now: float, gana: str | None = None) -> int:
    found = tx.execute(
        "SELECT count(*) FROM approvals WHERE state = ? AND expires_at > ? AND (? IS NULL OR gana = ?)",
        (State.WAITING, now, gana, gana),
    )
    return int(found.fetchone()[0])


def settle(
    tx: sqlite3.Connection, number: int, state: State, reason: str, now: float, event_id: str | None = None
) -> Approval:
    """Once and for good. Raises NotFound and Settled."""
    found = waiting(tx, number)
    tx.execute(
        "UPDATE approvals SET state = ?, reason = ?, event_id = ?, settled_at = ? WHERE number = ?",
        (state, reason, event_id, now, number),
    )
    return replace(found, state=state, reason=reason, event_id=event_id, settled_at=now)


def finish(
    tx: sqlite3.Connection, number: int, state: State, reason: str, event_id: str | None = None
) -> bool:
    """How what was accepted went. False when that is written down already."""
    done = tx.execute(
        "UPDATE approvals SET state = ?, reason = ?, event_id = ? WHERE number = ? AND state = ?",
        (state, reason, event_id, number, State.ACCEPTED),
    )
    return bool(done.rowcount)


def reword(tx: sqlite3.Connection, number: int, text: str) -> Approval:
    """Another text; all else stays as it was pinned. Raises NotFound and Settled."""
    found = waiting(tx, number)
    before = found.payload
    after: Payload = (
        replace(before, content=text) if isinstance(before, Unsigned) else replace(before, text=text)
    )
    # The digest stays that of the proposal: a run that is tried again must not propose the first words anew.
    tx.execute("UPDATE approvals SET payload = ? WHERE number = ?", (written(after), number))
    return replace(found, payload=after)


def due_reminders(tx: sqlite3.Connection, now: float) -> list[Approval]:
    rows = tx.execute(
        "SELECT * FROM approvals WHERE state = ? AND action = ? AND json_extract(payload, '$.at') <= ?",
        (State.ACCEPTED, Action.REMIND, now),
    )
    return [as_approval(row) for row in rows]


def next_reminder(tx: sqlite3.Connection, after: float) -> float | None:
    """When the first one that is due later than `after` is to be sent."""
    found: float | None = tx.execute(
        "SELECT min(json_extract(payload, '$.at')) FROM approvals"
        " WHERE state = ? AND action = ? AND json_extract(payload, '$.at') > ?",
        (State.ACCEPTED, Action.REMIND, after),
    ).fetchone()[0]
    return found


def expire(tx: sqlite3.Connection, now: float) -> int:
    """Those that nobody decided in time; and the old ones go. Returns how many expired."""
    tx.execute("DELETE FROM approvals WHERE settled_at < ?", (now - KEEP_S,))
    late = tx.execute(
        "UPDATE approvals SET state = ?, reason = 'nobody decided in time', settled_at = ?"
        " WHERE state = ? AND expires_at <= ?",
        (State.EXPIRED, now, State.WAITING, now),
    )
    return late.rowcount

"""The tables of installed skills. One unit writes a skill with all that is known of it, so there are no halves."""

from __future__ import annotations

import json
import sqlite3

from uniun_bots import failpoints
from uniun_bots.errors import NotFound
from uniun_bots.skills.provenance import Installed, Origin, State


def install(tx: sqlite3.Connection, new: Installed) -> None:
    """In the place of whatever has the name."""
    tx.execute(
        "INSERT OR REPLACE INTO skills (name, content, hash, event_id, source, approved_by, approved_at, state_at)"
        " VALUES (?,?,?,?,?,?,?,?)",
        (
            new.name,
            new.content,
            new.content_hash,
            new.origin.event_id if new.origin else None,
            new.source,
            new.approved_by,
            new.approved_at,
            new.approved_at,
        ),
    )
    failpoints.hit("installing")
    if new.origin is not None:
        _write_origin(tx, new.name, new.origin)


def _write_origin(tx: sqlite3.Connection, name: str, origin: Origin) -> None:
    tx.execute(
        "INSERT OR REPLACE INTO skill_events"
        " (event_id, name, author, address, version, expires_at, relays, labels, received_at, raw)"
        " VALUES (?,?,?,?,?,?,?,?,?,?)",
        (
            origin.event_id,
            name,
            origin.author,
            origin.address,
            origin.version,
            origin.expires_at,
            json.dumps(origin.relays),
            json.dumps(origin.labels),
            origin.received_at,
            origin.raw,
        ),
    )


def uninstall(tx: sqlite3.Connection, name: str) -> None:
    """With everything that is known of it. Raises NotFound."""
    if not tx.execute("DELETE FROM skills WHERE name = ?", (name,)).rowcount:
        raise NotFound(f"{name} is not installed")
    tx.execute("DELETE FROM skill_events WHERE name = ?", (name,))


def disable(tx: sqlite3.Connection, name: str, event_id: str, state: State, reason: str, now: float) -> bool:
    """False when it is disabled already, or another version is installed by now."""
    done = tx.execute(
        "UPDATE skills SET state = ?, reason = ?, state_at = ? WHERE name = ? AND event_id = ? AND state = ?",
        (state, reason, now, name, event_id, State.ACTIVE),
    )
    return bool(done.rowcount)


def installed_skills(tx: sqlite3.Connection) -> list[Installed]:
    """By name. Nothing of it is verified; empty in a file of a version that had none."""
    if not tx.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'skills'").fetchone():
        return []
    rows = tx.execute(
        "SELECT s.*, e.author, e.address, e.version, e.expires_at, e.relays, e.labels, e.received_at, e.raw"
        " FROM skills s LEFT JOIN skill_events e USING (name, event_id) ORDER BY s.name"
    )
    return [_installed(row) for row in rows]


def author_of_event(tx: sqlite3.Connection, event_id: str) -> str | None:
    """Of a version that is or was installed here."""
    row = tx.execute("SELECT author FROM skill_events WHERE event_id = ?", (event_id,)).fetchone()
    return row["author"] if row else None


def _installed(row: sqlite3.Row) -> Installed:
    return Installed(
        name=row["name"],
        content=row["content"],
        content_hash=row["hash"],
        source=row["source"],
        approved_by=row["approved_by"],
        approved_at=row["approved_at"],
        origin=_origin(row) if row["event_id"] is not None else None,
        state=State(row["state"]),
        reason=row["reason"],
        state_at=row["state_at"],
    )


def _origin(row: sqlite3.Row) -> Origin:
    """A row whose event is gone has no bytes, and so is found to be changed."""
    return Origin(
        event_id=row["event_id"],
        author=row["author"] or "",
        address=row["address"] or "",
        version=row["version"] or "",
        expires_at=row["expires_at"] or 0,
        relays=tuple(json.loads(row["relays"] or "[]")),
        labels=tuple(json.loads(row["labels"] or "[]")),
        received_at=row["received_at"] or 0.0,
        raw=row["raw"] or b"",
    )

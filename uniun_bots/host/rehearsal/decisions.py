"""What became of a note, for each Gana that it woke."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import dataclass
from typing import Any

from uniun_bots.host.roster import Roster
from uniun_bots.nostr.event import Event
from uniun_bots.nostr.surfaces import surfaces_of


@dataclass(frozen=True, slots=True)
class Decision:
    """What one Gana did with one note, or at one time."""

    gana: str
    fate: str
    """`answered`, `held`, `pending`, or how else its run ended."""
    reason: str
    setting: str
    """Which setting held it."""
    run: int | None
    event: dict[str, Any] | None
    """What would have been published."""


def decisions_on(tx: sqlite3.Connection, event: Event, roster: Roster) -> list[Decision]:
    found = [
        of_run(tx, row)
        for row in tx.execute("SELECT * FROM answered WHERE key = ? ORDER BY gana", (event.id,))
    ]
    found += [
        Decision(row["gana"], "held", row["reason"], row["setting"], None, None)
        for row in tx.execute("SELECT * FROM held WHERE note_id = ? ORDER BY gana", (event.id,))
    ]
    decided = {one.gana for one in found}
    watching = {gana for surface in surfaces_of(event) for gana in roster.watchers.get(surface, ())}
    if event.author not in roster.by_key:
        found += [_pending(tx, gana, event) for gana in sorted(watching - decided)]
    return found


def of_run(tx: sqlite3.Connection, row: sqlite3.Row) -> Decision:
    run = tx.execute("SELECT reason, event_id FROM runs WHERE run = ?", (row["run"],)).fetchone()
    raw = tx.execute(
        "SELECT raw FROM outbox WHERE event_id = ?", (run["event_id"] if run else None,)
    ).fetchone()
    fate = "answered" if row["ending"] == "succeeded" else row["ending"]
    event = json.loads(raw["raw"]) if raw else None
    return Decision(row["gana"], fate, run["reason"] if run else "", "", row["run"], event)


def _pending(tx: sqlite3.Connection, gana: str, event: Event) -> Decision:
    tried = tx.execute("SELECT reason FROM retries WHERE gana = ? AND key = ?", (gana, event.id)).fetchone()
    paused = tx.execute("SELECT paused FROM ganas WHERE gana = ?", (gana,)).fetchone()
    why = tried["reason"] if tried else (paused["paused"] if paused and paused["paused"] else "")
    return Decision(gana, "pending", why, "", None, None)

"""The outbox: finished event bytes waiting for their relays, and what each relay said."""

from __future__ import annotations

import json
import random
import sqlite3
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from uniun_bots.nostr.event import Event
from uniun_bots.nostr.read import read_event
from uniun_bots.publishing.pinned import Pinned
from uniun_bots.relays.receipt import Fate, Receipt

GIVE_UP_S = 86_400.0
FIRST_RETRY_S = 2.0
MOST_RETRY_S = 300.0
SLOW_RETRY_S = 600.0
"""For a relay that wants a login that its relay set does not allow: a person has to act."""


@dataclass(frozen=True, slots=True)
class Parcel:
    """One event on its way to one relay."""

    event_id: str
    author: str
    raw: bytes


def enqueue(tx: sqlite3.Connection, pinned: Pinned, gana: str, run: int | None, now: float) -> None:
    """`gana`: whose pause holds it back; empty for what a person ordered."""
    event = pinned.event
    tx.execute(
        "INSERT INTO outbox (event_id, gana, author, run, raw, at) VALUES (?, ?, ?, ?, ?, ?)",
        (event.id, gana, event.author, run, event.raw, now),
    )
    tx.executemany(
        "INSERT INTO receipts (event_id, relay, next_at) VALUES (?, ?, ?)",
        [(event.id, relay, now) for relay in pinned.relays],
    )


def add_relays(tx: sqlite3.Connection, event_id: str, relays: Sequence[str], now: float) -> None:
    """Further ones; those that had it on its way before are left alone."""
    tx.executemany(
        "INSERT INTO receipts (event_id, relay, next_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
        [(event_id, relay, now) for relay in relays],
    )


def sent_by_hand(tx: sqlite3.Connection, author: str) -> list[Event]:
    """What went out by this key without a run: profiles and relay lists."""
    rows = tx.execute("SELECT raw FROM outbox WHERE author = ? AND run IS NULL ORDER BY at", (author,))
    return [read_event(row["raw"]) for row in rows]


def due_parcels(tx: sqlite3.Connection, relay: str, now: float, *, most: int) -> list[Parcel]:
    """Oldest first; what a paused Gana made waits."""
    rows = tx.execute(
        "SELECT r.event_id, o.author, o.raw FROM receipts r JOIN outbox o USING (event_id)"
        " LEFT JOIN ganas g ON g.gana = o.gana"
        " WHERE r.next_at <= ? AND r.relay = ? AND g.paused IS NULL ORDER BY r.next_at, o.at LIMIT ?",
        (now, relay, most),
    )
    return [Parcel(row["event_id"], row["author"], row["raw"]) for row in rows]


def next_due(tx: sqlite3.Connection, relay: str, flying: Collection[str] = ()) -> float | None:
    """When the next one is to be sent, of those that are not on their way already."""
    found: float | None = tx.execute(
        "SELECT min(r.next_at) FROM receipts r JOIN outbox o USING (event_id) LEFT JOIN ganas g ON g.gana = o.gana"
        " WHERE r.next_at IS NOT NULL AND r.relay = ? AND g.paused IS NULL"
        " AND r.event_id NOT IN (SELECT value FROM json_each(?))",
        (relay, json.dumps(list(flying))),
    ).fetchone()[0]
    return found


def relays_with_mail(tx: sqlite3.Connection) -> list[str]:
    """Relays that something waits for, configured still or not."""
    return [row[0] for row in tx.execute("SELECT DISTINCT relay FROM receipts WHERE next_at IS NOT NULL")]


def record(tx: sqlite3.Connection, receipts: Sequence[Receipt], now: float) -> list[str]:
    """Write what relays said. Returns the events that nobody took and that are given up now.

    What was stopped while it was under way stays stopped.
    """
    tx.executemany(
        "UPDATE receipts SET fate = ?, message = ?, attempts = attempts + 1, next_at = NULL, at = ?"
        " WHERE event_id = ? AND relay = ?",
        [
            (receipt.fate, receipt.message, receipt.at, receipt.event_id, receipt.relay)
            for receipt in receipts
            if receipt.fate.delivered
        ],
    )
    waited: dict[str, None] = {}
    for receipt in receipts:
        if receipt.fate.delivered:
            continue
        row = tx.execute(
            "SELECT r.attempts, r.next_at, o.at FROM receipts r JOIN outbox o USING (event_id)"
            " WHERE r.event_id = ? AND r.relay = ?",
            (receipt.event_id, receipt.relay),
        ).fetchone()
        if row is None:
            continue
        again = None
        if row["next_at"] is not None:
            waited[receipt.event_id] = None
            again = _again_at(receipt.fate, row["attempts"] + 1, row["at"], now)
        tx.execute(
            "UPDATE receipts SET fate = ?, message = ?, attempts = attempts + 1, next_at = ?, at = ?"
            " WHERE event_id = ? AND relay = ?",
            (receipt.fate, receipt.message, again, receipt.at, receipt.event_id, receipt.relay),
        )
    return [event_id for event_id in waited if _undeliverable(tx, event_id)]


def _again_at(fate: Fate, attempts: int, enqueued_at: float, now: float) -> float | None:
    """None when trying again cannot help, or has gone on for too long."""
    if fate.final:
        return None
    again = now + backoff_s(fate, attempts)
    return again if again <= enqueued_at + GIVE_UP_S else None


def _undeliverable(tx: sqlite3.Connection, event_id: str) -> bool:
    row = tx.execute(
        "SELECT sum(next_at IS NOT NULL) AS waiting, sum(fate IN (?, ?)) AS taken FROM receipts"
        " WHERE event_id = ?",
        (Fate.ACCEPTED, Fate.DUPLICATE, event_id),
    ).fetchone()
    return not row["waiting"] and not row["taken"]


def backoff_s(fate: Fate, attempts: int) -> float:
    """Grows by two with a jitter of a quarter; bounded."""
    if fate is Fate.AUTH_REQUIRED:
        return SLOW_RETRY_S
    spread = 1 + random.uniform(-0.25, 0.25)  # noqa: S311
    return float(min(MOST_RETRY_S, FIRST_RETRY_S * 2 ** (attempts - 1))) * spread


def hurry(tx: sqlite3.Connection, relay: str, now: float) -> None:
    """The relay is back: what waited because it was away goes now."""
    tx.execute(
        "UPDATE receipts SET next_at = ? WHERE relay = ? AND next_at > ? AND fate IN (?, ?)",
        (now, relay, now, Fate.UNREACHABLE, Fate.UNANSWERED),
    )


def receipts_of(tx: sqlite3.Connection, event_id: str) -> list[sqlite3.Row]:
    return tx.execute(
        "SELECT relay, fate, message, attempts, next_at, at FROM receipts WHERE event_id = ?", (event_id,)
    ).fetchall()


def gana_of(tx: sqlite3.Connection, event_id: str) -> str:
    """Whose it is; empty for what a person ordered."""
    return str(tx.execute("SELECT gana FROM outbox WHERE event_id = ?", (event_id,)).fetchone()["gana"])


def waiting_count(tx: sqlite3.Connection) -> int:
    """Events that at least one relay is still to get."""
    return int(
        tx.execute("SELECT count(DISTINCT event_id) FROM receipts WHERE next_at IS NOT NULL").fetchone()[0]
    )


def waiting_now(tx: sqlite3.Connection, now: float) -> bool:
    """Whether something waits for its first try or is due for another one."""
    row = tx.execute(
        "SELECT 1 FROM receipts r JOIN outbox o USING (event_id) LEFT JOIN ganas g ON g.gana = o.gana"
        " WHERE r.next_at <= ? AND g.paused IS NULL LIMIT 1",
        (now,),
    ).fetchone()
    return row is not None

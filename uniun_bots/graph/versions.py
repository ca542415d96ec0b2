"""Long-form notes: one address, many versions, of which one counts (NIP-01), until its author deletes it (NIP-09)."""

from __future__ import annotations

import re
import sqlite3

from uniun_bots.graph.note import DELETED, REPLACED
from uniun_bots.nostr.event import Event

LONG_FORM = 30023
_ADDRESS = re.compile(r"\d{1,5}:([0-9a-f]{64}):.*", re.DOTALL)


def address_of(event: Event) -> str | None:
    """`<kind>:<author>:<d>`; None for notes that have no address."""
    if event.kind != LONG_FORM:
        return None
    return f"{event.kind}:{event.author}:{next(iter(event.tag_values('d')), '')}"


def author_of(address: str) -> str | None:
    """Whose address it is; None when it is not one."""
    found = _ADDRESS.fullmatch(address)
    return found[1] if found else None


def keep_version(tx: sqlite3.Connection, seq: int, event: Event, address: str) -> None:
    """Of all versions the newest counts, of two in the same second the one with the lower id.

    A version that its author deleted keeps its place: what it replaced does not come back.
    """
    given = (address, event.created_at, event.created_at, event.id)
    beaten = tx.execute(
        "SELECT 1 FROM addresses a JOIN notes n USING (seq) WHERE a.address = ?"
        " AND (n.created_at > ? OR (n.created_at = ? AND n.id < ?)) LIMIT 1",
        given,
    ).fetchone()
    if beaten:
        tx.execute("UPDATE notes SET deleted = ? WHERE seq = ? AND deleted = 0", (REPLACED, seq))
    else:
        tx.execute(
            "UPDATE notes SET deleted = ? WHERE deleted = 0"
            " AND seq IN (SELECT seq FROM addresses WHERE address = ?)",
            (REPLACED, address),
        )
    tx.execute("INSERT INTO addresses (address, seq) VALUES (?, ?)", (address, seq))
    row = tx.execute("SELECT upto FROM address_deletions WHERE address = ?", (address,)).fetchone()
    if row and event.created_at <= row["upto"]:
        tx.execute("UPDATE notes SET deleted = ? WHERE seq = ?", (DELETED, seq))


def delete_address(tx: sqlite3.Connection, address: str, upto: int) -> list[str]:
    """All versions up to the second of the deletion, those that come later too. Ids of those it took out."""
    tx.execute(
        "INSERT INTO address_deletions (address, upto) VALUES (?, ?)"
        " ON CONFLICT (address) DO UPDATE SET upto = max(upto, excluded.upto)",
        (address, upto),
    )
    rows = tx.execute(
        "UPDATE notes SET deleted = ? WHERE deleted != ? AND created_at <= ?"
        " AND seq IN (SELECT seq FROM addresses WHERE address = ?) RETURNING id",
        (DELETED, DELETED, upto, address),
    )
    return [row[0] for row in rows]

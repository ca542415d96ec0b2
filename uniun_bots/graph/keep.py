"""Keep events as notes: with their edges, topics, surfaces and full text, in one unit of the store."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from uniun_bots.graph.manas import Rule, join_manas
from uniun_bots.graph.note import Origin
from uniun_bots.graph.profiles import keep_profile
from uniun_bots.graph.words import words
from uniun_bots.nostr.event import Event
from uniun_bots.nostr.references import topics_of
from uniun_bots.nostr.surfaces import surfaces_of
from uniun_bots.nostr.text import clean
from uniun_bots.nostr.threads import read_thread
from uniun_bots.relays.heard import Heard, Sighting

NOTE_KINDS = frozenset({1, 42, 30023})
READ_KINDS = NOTE_KINDS | {0, 5}
"""And profiles and deletions, read for what they say."""
MOST_EDGES = 200
"""Edges kept of one note; contact-list-like notes carry thousands of tags."""


@dataclass(frozen=True, slots=True)
class Kept:
    """What a batch became."""

    new: tuple[Event, ...]
    known: int
    expired: int
    deleted: tuple[str, ...]
    """Ids that a NIP-09 deletion by their own author took out."""


def keep(tx: sqlite3.Connection, batch: Sequence[Heard]) -> Kept:
    """A known id changes nothing but its sightings. Kinds that are no notes are read for what they say."""
    tx.executemany(
        "INSERT OR IGNORE INTO heard (id, relay, at) VALUES (?, ?, ?)",
        [(heard.event.id, heard.relay, heard.at) for heard in batch if heard.relay],
    )
    new: list[Event] = []
    deleted: list[str] = []
    known = expired = 0
    for heard in batch:
        event = heard.event
        if _expired(event, heard.at):
            expired += 1
        elif event.kind == 0:
            keep_profile(tx, event, heard.at)
        elif event.kind == 5:
            deleted += _delete(tx, event, heard.at)
        elif event.kind in NOTE_KINDS:
            if keep_note(tx, event, "relay", heard.at) is None:
                known += 1
            else:
                new.append(event)
    return Kept(tuple(new), known, expired, tuple(deleted))


def _expired(event: Event, now: float) -> bool:
    """NIP-40: counted, not kept."""
    return any(
        len(until) <= 15 and until.isdecimal() and int(until) <= now
        for until in event.tag_values("expiration")
    )


def keep_note(tx: sqlite3.Connection, event: Event, origin: Origin, at: float) -> int | None:
    """The new note's seq, or None when the id is known."""
    thread = read_thread(event)
    text = clean(event.content)
    row = tx.execute(
        "INSERT INTO notes (id, author, kind, created_at, text, origin, heard_at, root, parent, raw)"
        " VALUES (?,?,?,?,?,?,?,?,?,?) ON CONFLICT (id) DO NOTHING RETURNING seq",
        (
            event.id,
            event.author,
            event.kind,
            event.created_at,
            text,
            origin,
            at,
            thread.root,
            thread.parent,
            event.raw,
        ),
    ).fetchone()
    if row is None:
        return None
    seq = int(row[0])
    edges = [("root", thread.root), ("reply", thread.parent)]
    edges += [("mention", note_id) for note_id in thread.mentions]
    edges += [("quote", note_id) for note_id in thread.quotes]
    tx.executemany(
        "INSERT OR IGNORE INTO edges (seq, kind, target) VALUES (?, ?, ?)",
        [(seq, kind, target) for kind, target in edges[:MOST_EDGES] if target],
    )
    surfaces, topics = surfaces_of(event), topics_of(event)
    tx.executemany(
        "INSERT INTO surfaces (surface, seq) VALUES (?, ?)", [(surface, seq) for surface in surfaces]
    )
    if topics:
        tx.executemany(
            "INSERT OR IGNORE INTO topics (topic, seq) VALUES (?, ?)", [(topic, seq) for topic in topics]
        )
    tx.execute("INSERT INTO notes_text (rowid, words) VALUES (?, ?)", (seq, words(text)))
    join_manas(tx, seq, _facts(event, surfaces, topics))
    if _deleted_before(tx, event):
        tx.execute("UPDATE notes SET deleted = 1 WHERE seq = ?", (seq,))
    return seq


def _facts(event: Event, surfaces: Iterable[str], topics: Iterable[str]) -> list[Rule]:
    """By what a Manas may name this note."""
    facts = [Rule("note", event.id), Rule("author", event.author)]
    facts += [Rule("topic", topic) for topic in topics]
    groups = [surface for surface in surfaces if surface.startswith("group:")]
    return facts + [Rule("group", surface.removeprefix("group:")) for surface in groups]


def _deleted_before(tx: sqlite3.Connection, event: Event) -> bool:
    found = tx.execute("SELECT 1 FROM deletions WHERE target = ? AND author = ?", (event.id, event.author))
    return found.fetchone() is not None


def _delete(tx: sqlite3.Connection, event: Event, at: float) -> list[str]:
    """NIP-09: only an author deletes, and a deletion may come before its note."""
    gone = []
    for target in event.tag_values("e")[:MOST_EDGES]:
        tx.execute(
            "INSERT OR IGNORE INTO deletions (target, author, at) VALUES (?, ?, ?)",
            (target, event.author, at),
        )
        if tx.execute(
            "UPDATE notes SET deleted = 1 WHERE id = ? AND author = ? AND deleted = 0", (target, event.author)
        ).rowcount:
            gone.append(target)
    return gone


def mark_deleted(tx: sqlite3.Connection, note_id: str) -> None:
    """Our own note that we retract."""
    tx.execute("UPDATE notes SET deleted = 1 WHERE id = ?", (note_id,))


def keep_sightings(tx: sqlite3.Connection, sightings: Iterable[Sighting]) -> None:
    tx.executemany(
        "INSERT OR IGNORE INTO heard (id, relay, at) VALUES (?, ?, ?)",
        [(sighting.event_id, sighting.relay, sighting.at) for sighting in sightings],
    )

"""Keep events as notes: with their edges, topics, surfaces and full text, in one unit of the store."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from uniun_bots.graph.edges import edges_of
from uniun_bots.graph.manas import Rule, join_manas
from uniun_bots.graph.note import DELETED, Origin
from uniun_bots.graph.profiles import keep_profile
from uniun_bots.graph.versions import LONG_FORM, address_of, author_of, delete_address, keep_version
from uniun_bots.graph.words import words
from uniun_bots.nostr.event import Event
from uniun_bots.nostr.event_id import is_id
from uniun_bots.nostr.references import topics_of
from uniun_bots.nostr.surfaces import surfaces_of
from uniun_bots.nostr.text import clean
from uniun_bots.nostr.threads import Thread, read_thread
from uniun_bots.relays.heard import Heard, Sighting

NOTE_KINDS = frozenset({1, 42, 30023})
READ_KINDS = NOTE_KINDS | {0, 5}
"""And profiles and deletions, read for what they say."""
MOST_TARGETS = 200
"""Read of one deletion."""
FEW = 16
"""Rows, such as one note has."""


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
    _write_heard(tx, [(heard.event.id, heard.relay, heard.at) for heard in batch if heard.relay])
    new: list[tuple[int, Event, Thread]] = []
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
            thread = read_thread(event)
            if (seq := _insert(tx, event, thread, "relay", heard.at)) is None:
                known += 1
            else:
                new.append((seq, event, thread))
    if new:
        _connect(tx, new)
    return Kept(tuple(event for _, event, _ in new), known, expired, tuple(deleted))


def _expired(event: Event, now: float) -> bool:
    """NIP-40: counted, not kept."""
    return any(
        len(until) <= 15 and until.isdecimal() and int(until) <= now
        for until in event.tag_values("expiration")
    )


def keep_note(tx: sqlite3.Connection, event: Event, origin: Origin, at: float) -> int | None:
    """The new note's seq, or None when the id is known."""
    thread = read_thread(event)
    seq = _insert(tx, event, thread, origin, at)
    if seq is not None:
        _connect(tx, [(seq, event, thread)])
    return seq


def _insert(tx: sqlite3.Connection, event: Event, thread: Thread, origin: Origin, at: float) -> int | None:
    """The row of the note and its words, and not yet where it stands."""
    text = _text(event)
    done = tx.execute(
        "INSERT INTO notes (id, author, kind, created_at, text, origin, heard_at, root, parent, raw, deleted)"
        " VALUES (?,?,?,?,?,?,?,?,?,?, EXISTS (SELECT 1 FROM deletions WHERE target = ? AND author = ?))"
        " ON CONFLICT (id) DO NOTHING",
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
            event.id,
            event.author,
        ),
    )
    if not done.rowcount:
        return None
    seq = int(done.lastrowid or 0)
    tx.execute("INSERT INTO notes_text (rowid, words) VALUES (?, ?)", (seq, words(text)))
    if address := address_of(event):
        keep_version(tx, seq, event, address)
    return seq


def _text(event: Event) -> str:
    text = clean(event.content)
    if event.kind != LONG_FORM:
        return text
    title = " ".join(clean(next(iter(event.tag_values("title")), "")).split())
    return text if not title or text.lstrip("# \n").startswith(title) else f"# {title}\n\n{text}"


def _connect(tx: sqlite3.Connection, notes: Sequence[tuple[int, Event, Thread]]) -> None:
    """Edges, surfaces and topics."""
    edges = [
        (seq, kind, target)
        for seq, event, thread in notes
        for kind, target in edges_of(event, thread, clean(event.content))
    ]
    _insert_all(tx, "OR IGNORE INTO edges (seq, kind, target)", [edge for edge in edges if is_id(edge[2])])
    if to_addresses := [edge for edge in edges if not is_id(edge[2])]:
        tx.executemany("INSERT OR IGNORE INTO edges (seq, kind, target) VALUES (?, ?, ?)", to_addresses)
    stands = [(seq, event, surfaces_of(event), topics_of(event)) for seq, event, _ in notes]
    surfaces = [(surface, seq) for seq, _, names, _ in stands for surface in names]
    _insert_all(tx, "INTO surfaces (surface, seq)", surfaces)
    # Topics and addresses are anybody's words, which JSON in SQLite would cut at a zero byte.
    if topics := [(topic, seq) for seq, _, _, names in stands for topic in names]:
        tx.executemany("INSERT OR IGNORE INTO topics (topic, seq) VALUES (?, ?)", topics)
    join_manas(tx, [(seq, _facts(event, on, about)) for seq, event, on, about in stands])


def _facts(event: Event, surfaces: Iterable[str], topics: Iterable[str]) -> list[Rule]:
    """By what a Manas may name this note."""
    facts = [Rule("note", event.id), Rule("author", event.author)]
    if address := address_of(event):
        facts.append(Rule("address", address))
    facts += [Rule("topic", topic) for topic in topics]
    groups = [surface for surface in surfaces if surface.startswith("group:")]
    return facts + [Rule("group", surface.removeprefix("group:")) for surface in groups]


def _delete(tx: sqlite3.Connection, event: Event, at: float) -> list[str]:
    """NIP-09: only an author deletes, and a deletion may come before its note."""
    gone = []
    for address in event.tag_values("a")[:MOST_TARGETS]:
        if author_of(address) == event.author:
            gone += delete_address(tx, address, event.created_at)
    for target in event.tag_values("e")[:MOST_TARGETS]:
        tx.execute(
            "INSERT OR IGNORE INTO deletions (target, author, at) VALUES (?, ?, ?)",
            (target, event.author, at),
        )
        if tx.execute(
            "UPDATE notes SET deleted = ? WHERE id = ? AND author = ? AND deleted != ?",
            (DELETED, target, event.author, DELETED),
        ).rowcount:
            gone.append(target)
    return gone


def mark_deleted(tx: sqlite3.Connection, note_id: str) -> None:
    """Our own note that we retract."""
    tx.execute("UPDATE notes SET deleted = ? WHERE id = ?", (DELETED, note_id))


def keep_sightings(tx: sqlite3.Connection, sightings: Iterable[Sighting]) -> None:
    _write_heard(tx, [(sighting.event_id, sighting.relay, sighting.at) for sighting in sightings])


def _write_heard(tx: sqlite3.Connection, rows: Sequence[tuple[str, str, float]]) -> None:
    _insert_all(tx, "OR IGNORE INTO heard (id, relay, at)", rows)


def _insert_all(tx: sqlite3.Connection, into: str, rows: Sequence[tuple[object, ...]]) -> None:
    """Many in one statement, since SQLite lets go of the interpreter at each; few one by one, since before a
    statement of many rows the full text writes down what it gathered, which is more work than all of them."""
    columns = into.count(",") + 1
    if len(rows) <= FEW:
        tx.executemany(f"INSERT {into} VALUES ({','.join('?' * columns)})", rows)  # noqa: S608
        return
    values = ",".join(f"value ->> {column}" for column in range(columns))
    tx.execute(f"INSERT {into} SELECT {values} FROM json_each(?)", (json.dumps(rows),))  # noqa: S608

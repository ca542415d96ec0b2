"""Look notes up: by id, upwards along replies, and as a relay's filter would."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from uniun_bots.graph.note import Note
from uniun_bots.graph.scope import in_conversation
from uniun_bots.nostr.filter import Filter
from uniun_bots.nostr.surfaces import SHORT_NOTE
from uniun_bots.nostr.threads import CHANNEL_MESSAGE

COLUMNS = (
    "n.seq, n.id, n.author, n.kind, n.created_at, n.text, n.origin, n.heard_at, n.root, n.parent, n.deleted"
)
MOST_ANCESTORS = 40
AHEAD_S = 86_400
"""A note that was dated further ahead than this when it was heard is sent once more, and is known then."""


def as_note(row: sqlite3.Row) -> Note:
    return Note(
        seq=row["seq"],
        id=row["id"],
        author=row["author"],
        kind=row["kind"],
        created_at=row["created_at"],
        text=row["text"],
        origin=row["origin"],
        heard_at=row["heard_at"],
        root=row["root"],
        parent=row["parent"],
        deleted=bool(row["deleted"]),
    )


def note_by_id(tx: sqlite3.Connection, note_id: str) -> Note | None:
    row = tx.execute(f"SELECT {COLUMNS} FROM notes n WHERE n.id = ?", (note_id,)).fetchone()  # noqa: S608
    return as_note(row) if row else None


def raw_event(tx: sqlite3.Connection, note_id: str) -> bytes | None:
    row = tx.execute("SELECT raw FROM notes WHERE id = ?", (note_id,)).fetchone()
    return row["raw"] if row else None


def known_ids(tx: sqlite3.Connection, ids: Collection[str]) -> set[str]:
    """Which of these are notes here; tombstones are."""
    rows = tx.execute("SELECT id FROM notes WHERE id IN (SELECT value FROM json_each(?))", (_list(ids),))
    return {row[0] for row in rows}


def ids_beginning(tx: sqlite3.Connection, start: str, at_most: int) -> list[str]:
    """Of notes; `start` in lower-case hex."""
    asked = (start, f"{start}g", at_most)
    rows = tx.execute("SELECT id FROM notes WHERE id >= ? AND id < ? ORDER BY id LIMIT ?", asked)
    return [row[0] for row in rows]


def _list(ids: Collection[str]) -> str:
    return json.dumps(list(ids))


@dataclass(frozen=True, slots=True)
class Ancestry:
    notes: tuple[Note, ...]
    """From the top down to the parent."""
    missing: str | None
    """The next id upwards that is not in the store; None when no note above would be shown."""


def ancestry(tx: sqlite3.Connection, note: Note, audience: str | None) -> Ancestry:
    """A private note of another conversation than `audience` is no ancestor, and nothing above it is."""
    test, given = in_conversation(audience)
    found: list[Note] = []
    seen = {note.id}
    wanted = note.parent
    while wanted and wanted not in seen and len(found) < MOST_ANCESTORS:
        seen.add(wanted)
        row = tx.execute(
            f"SELECT {COLUMNS}, {test} AS ours FROM notes n WHERE n.id = ?",  # noqa: S608
            (*given, wanted),
        ).fetchone()
        if row is None:
            return Ancestry(tuple(reversed(found)), wanted)
        if not row["ours"]:
            break
        parent = as_note(row)
        found.append(parent)
        wanted = parent.parent
    return Ancestry(tuple(reversed(found)), None)


def have_for(tx: sqlite3.Connection, wanted: Filter, since: int) -> list[tuple[str, int]]:
    """(id, created_at) of kept notes that the filter names: what a relay need not send again.

    Each of our filters asks for one of: ids, authors, `#e` (a group's messages, or answers to a note), `#p` (mentions).
    """
    if wanted.ids:
        rows = tx.execute(
            "SELECT id, created_at FROM notes WHERE id IN (SELECT value FROM json_each(?))"
            " AND created_at >= ? AND raw IS NOT NULL",
            (_list(wanted.ids), since),
        )
        return [(row[0], row[1]) for row in rows]
    kinds = ",".join(str(kind) for kind in wanted.kinds)
    if wanted.authors:
        marks = ",".join("?" * len(wanted.authors))
        rows = tx.execute(
            f"SELECT id, created_at FROM notes WHERE author IN ({marks}) AND created_at >= ?"  # noqa: S608
            f" AND kind IN ({kinds}) AND raw IS NOT NULL",
            (*wanted.authors, since),
        )
        return [(row[0], row[1]) for row in rows]
    have: dict[str, int] = {}
    low = _first_heard(tx, since - AHEAD_S)
    for letter, values in wanted.tags:
        for value in values:
            for source, given in _named(letter, wanted):
                rows = tx.execute(
                    f"SELECT n.id, n.created_at FROM {source} JOIN notes n USING (seq)"  # noqa: S608
                    f" WHERE {given} AND x.seq >= :low AND n.created_at >= :since"
                    f" AND n.kind IN ({kinds}) AND n.raw IS NOT NULL",
                    {"value": value, "since": since, "low": low},
                )
                have.update((row[0], row[1]) for row in rows)
    return list(have.items())


def _first_heard(tx: sqlite3.Connection, at: int) -> int:
    """The seq from which on notes were heard at this time or later: a surface may hold millions of older ones."""
    row = tx.execute(
        "SELECT seq FROM notes WHERE heard_at >= ? ORDER BY heard_at, seq LIMIT 1", (at,)
    ).fetchone()
    if row is None:
        row = tx.execute("SELECT coalesce(max(seq), 0) + 1 FROM notes").fetchone()
    return int(row[0])


def _named(letter: str, wanted: Filter) -> Iterator[tuple[str, str]]:
    """Where the notes stand that name a value with the tag, and the condition there."""
    if letter == "p":
        yield "surfaces x", "x.surface = 'mentions:' || :value"
    if letter == "e" and CHANNEL_MESSAGE in wanted.kinds:
        yield "surfaces x", "x.surface = 'group:' || :value"
    if letter == "e" and SHORT_NOTE in wanted.kinds:
        # A relay sends what only mentions the note as well.
        yield "edges x", "x.target = :value AND x.kind IN ('root', 'reply', 'mention') AND n.kind = 1"

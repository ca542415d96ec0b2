"""Everything that the graph knows about one note."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from uniun_bots.graph.extractions import memory_of
from uniun_bots.graph.find import note_by_id
from uniun_bots.graph.manas import manas_of
from uniun_bots.graph.note import Note
from uniun_bots.graph.profiles import names_of

MOST_EDGES = 200
PREVIEW_CHARS = 80


@dataclass(frozen=True, slots=True)
class Neighbour:
    kind: str
    """Of the edge: root, reply, mention or quote."""
    note: str
    """Its id; the address of a long-form note that is not known here."""
    preview: str | None
    """How its text begins; None for a note that is not known here."""


@dataclass(frozen=True, slots=True)
class AroundNote:
    note: Note
    author_name: str
    audience: str | None
    """The conversation that a private note belongs to."""
    file: str | None
    """Of a draft, relative to the folder `manas/`."""
    names: tuple[Neighbour, ...]
    """What the note names by its tags."""
    named_by: tuple[Neighbour, ...]
    topics: tuple[str, ...]
    surfaces: tuple[str, ...]
    manas: tuple[str, ...]
    memory: str | None
    no_memory: str
    """Why it has none; empty when nobody wants one."""
    heard: tuple[tuple[str, float], ...]
    """Relays, and when."""


def around_note(tx: sqlite3.Connection, note_id: str) -> AroundNote | None:
    """For the owner of the graph: private notes too. None for a note that is not known."""
    note = note_by_id(tx, note_id)
    if note is None:
        return None
    memory, no_memory = memory_of(tx, note.seq)
    audience = tx.execute("SELECT audience FROM notes WHERE seq = ?", (note.seq,)).fetchone()[0]
    return AroundNote(
        note=note,
        author_name=names_of(tx, [note.author]).get(note.author, ""),
        audience=audience,
        file=next(
            iter(
                _column(tx, "SELECT d.path FROM drafts d JOIN notes n USING (id) WHERE n.seq = ?", note.seq)
            ),
            None,
        ),
        names=_neighbours(
            tx,
            "SELECT e.kind, coalesce(n.id, e.target), n.text FROM edges e LEFT JOIN addresses a ON a.address = e.target"
            " LEFT JOIN notes n ON n.id = e.target OR (n.seq = a.seq AND n.deleted = 0) WHERE e.seq = ?",
            note.seq,
        ),
        named_by=_neighbours(
            tx,
            "SELECT e.kind, n.id, n.text FROM edges e JOIN notes n ON n.seq = e.seq WHERE e.target IN"
            " (SELECT id FROM notes WHERE seq = ?1 UNION ALL SELECT address FROM addresses WHERE seq = ?1)",
            note.seq,
        ),
        topics=_column(tx, "SELECT topic FROM topics WHERE seq = ? ORDER BY topic", note.seq),
        surfaces=_column(tx, "SELECT surface FROM surfaces WHERE seq = ? ORDER BY surface", note.seq),
        manas=tuple(manas_of(tx, note.seq)),
        memory=memory,
        no_memory=no_memory,
        heard=tuple(
            (row["relay"], row["at"])
            for row in tx.execute("SELECT relay, at FROM heard WHERE id = ? ORDER BY at", (note_id,))
        ),
    )


def _neighbours(tx: sqlite3.Connection, sql: str, key: int) -> tuple[Neighbour, ...]:
    rows = tx.execute(f"{sql} ORDER BY e.seq, e.kind LIMIT {MOST_EDGES}", (key,))
    return tuple(
        Neighbour(kind, note_id, None if text is None else " ".join(text[:PREVIEW_CHARS].split()))
        for kind, note_id, text in rows
    )


def _column(tx: sqlite3.Connection, sql: str, seq: int) -> tuple[str, ...]:
    return tuple(row[0] for row in tx.execute(sql, (seq,)))

"""The table of vectors: which notes have one, which wait, and by which embedder."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from uniun_bots.inference.embed.embedder import EmbedderInfo
from uniun_bots.inference.embed.vector import cosine

SAME_PROBE = 0.99
"""Nearer than this are two vectors of one text by one embedder on different machines."""
WINDOW = 2_000
"""Arrival numbers looked at in one read for notes that wait."""
BATCH = 2_000
PAGE = 2_000


@dataclass(frozen=True, slots=True)
class Registered:
    """An embedder as the table knows it."""

    id: int
    name: str
    width: int


@dataclass(frozen=True, slots=True)
class Waiting:
    seq: int
    text: str


@dataclass(frozen=True, slots=True)
class Queue:
    waiting: tuple[Waiting, ...]
    upto: int
    """Every note up to this number has what it will get, once `waiting` is done."""
    more: bool


@dataclass(frozen=True, slots=True)
class Page:
    """Vectors that came after a place in the table."""

    vectors: tuple[tuple[int, bytes], ...]
    """By arrival number."""
    upto: int
    more: bool


@dataclass(frozen=True, slots=True)
class Progress:
    embedded: int
    refused: int
    waiting: int
    """At most: empty and deleted notes among the last ones are counted until they are looked at."""


def register(tx: sqlite3.Connection, info: EmbedderInfo) -> Registered:
    """The row of this embedder; a new one when its name, its width or its vectors are new."""
    rows = tx.execute(
        "SELECT * FROM embedders WHERE name = ? AND width = ? ORDER BY embedder DESC", (info.name, info.width)
    )
    for row in rows:
        if cosine(row["probe"], info.probe) >= SAME_PROBE:
            return _registered(row)
    made = tx.execute(
        "INSERT INTO embedders (name, width, probe) VALUES (?, ?, ?) RETURNING *",
        (info.name, info.width, info.probe),
    )
    return _registered(made.fetchone())


def _registered(row: sqlite3.Row) -> Registered:
    return Registered(row["embedder"], row["name"], row["width"])


def queue(tx: sqlite3.Connection, embedder: int, limit: int) -> Queue:
    """The oldest notes without a vector. Read from the notes themselves: nothing else has to be kept up."""
    upto = int(tx.execute("SELECT upto FROM embedders WHERE embedder = ?", (embedder,)).fetchone()[0])
    newest = int(tx.execute("SELECT coalesce(max(seq), 0) FROM notes").fetchone()[0])
    end = min(newest, upto + WINDOW)
    rows = tx.execute(
        "SELECT n.seq, n.text FROM notes n WHERE n.seq > ? AND n.seq <= ? AND n.deleted = 0 AND n.text != ''"
        " AND NOT EXISTS (SELECT 1 FROM embeddings e WHERE e.seq = n.seq AND e.embedder = ?)"
        " ORDER BY n.seq LIMIT ?",
        (upto, end, embedder, limit),
    ).fetchall()
    found = tuple(Waiting(row["seq"], row["text"]) for row in rows)
    done = found[-1].seq if len(found) == limit else end
    return Queue(found, done, done < newest)


def put(
    tx: sqlite3.Connection, embedder: int, found: Queue, vectors: Sequence[tuple[Waiting, bytes | None]]
) -> None:
    """What was made of the texts in `found`. A note that changed or went meanwhile gets nothing, and a note that
    still lacks its vector is not passed."""
    tx.executemany(
        "INSERT INTO embeddings (embedder, seq, vector) SELECT ?, n.seq, ? FROM notes n"
        " WHERE n.seq = ? AND n.text = ? AND n.deleted = 0 ON CONFLICT DO NOTHING",
        [(embedder, vector, note.seq, note.text) for note, vector in vectors],
    )
    skipped = tx.execute(
        "SELECT min(n.seq) FROM json_each(?) j JOIN notes n ON n.seq = j.value WHERE n.deleted = 0"
        " AND n.text != '' AND NOT EXISTS"
        " (SELECT 1 FROM embeddings e WHERE e.seq = n.seq AND e.embedder = ?)",
        (str([note.seq for note in found.waiting]), embedder),
    ).fetchone()[0]
    reached = found.upto if skipped is None else skipped - 1
    tx.execute("UPDATE embedders SET upto = ? WHERE embedder = ? AND upto < ?", (reached, embedder, reached))


def page(tx: sqlite3.Connection, embedder: Registered, since: int) -> Page:
    """Rows of a wrong width are left out: no distance to them means anything."""
    rows = tx.execute(
        "SELECT change, seq, vector FROM embeddings WHERE change > ? AND embedder = ?"
        " AND length(vector) = ? ORDER BY change LIMIT ?",
        (since, embedder.id, embedder.width, PAGE),
    ).fetchall()
    more = len(rows) == PAGE
    last = tx.execute("SELECT coalesce(max(change), 0) FROM embeddings").fetchone()[0]
    upto = rows[-1]["change"] if more else max(since, last)
    return Page(tuple((row["seq"], row["vector"]) for row in rows), upto, more)


def count(tx: sqlite3.Connection, embedder: Registered) -> int:
    counted = "SELECT count(*) FROM embeddings WHERE embedder = ? AND vector IS NOT NULL"
    return int(tx.execute(counted, (embedder.id,)).fetchone()[0])


def forget_others(tx: sqlite3.Connection, embedder: int) -> int:
    """Vectors of former embedders, when this one has done all notes; call again while it returns BATCH."""
    rows = tx.execute(
        "DELETE FROM embeddings WHERE change IN (SELECT change FROM embeddings WHERE embedder != ? LIMIT ?)",
        (embedder, BATCH),
    )
    if rows.rowcount < BATCH:
        tx.execute("DELETE FROM embedders WHERE embedder != ?", (embedder,))
    return rows.rowcount


def has_others(tx: sqlite3.Connection, embedder: int) -> bool:
    return tx.execute("SELECT 1 FROM embedders WHERE embedder != ?", (embedder,)).fetchone() is not None


def any_vector(tx: sqlite3.Connection) -> bool:
    return tx.execute("SELECT 1 FROM embeddings WHERE vector IS NOT NULL LIMIT 1").fetchone() is not None


def any_note(tx: sqlite3.Connection) -> bool:
    return tx.execute("SELECT 1 FROM notes LIMIT 1").fetchone() is not None


def progress_of_all(tx: sqlite3.Connection, embedder: int | None) -> Progress:
    """Before an embedder was ever ready, everything waits for it."""
    if embedder is not None:
        return progress(tx, embedder)
    return Progress(0, 0, int(tx.execute("SELECT coalesce(max(seq), 0) FROM notes").fetchone()[0]))


def progress(tx: sqlite3.Connection, embedder: int) -> Progress:
    upto, newest, rows, refused, ahead = tx.execute(
        "SELECT e.upto, (SELECT coalesce(max(seq), 0) FROM notes),"
        " (SELECT count(*) FROM embeddings WHERE embedder = e.embedder),"
        " (SELECT count(*) FROM embeddings WHERE embedder = e.embedder AND vector IS NULL),"
        " (SELECT count(*) FROM embeddings WHERE embedder = e.embedder AND seq > e.upto)"
        " FROM embedders e WHERE e.embedder = ?",
        (embedder,),
    ).fetchone()
    return Progress(embedded=rows - refused, refused=refused, waiting=max(0, newest - upto - ahead))

"""Whether the tables of the graph agree with the notes, and their repair. Each finding is told and can be mended."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass

from uniun_bots.graph.words import words

BATCH = 1_000
SAMPLE = 500
"""Notes whose own words are looked for."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is not as it should be."""

    what: str
    rows: int


@dataclass(frozen=True, slots=True)
class Check:
    name: str
    find: Callable[[sqlite3.Connection], list[Finding]]
    mend: Callable[[sqlite3.Connection], None]


def full_text(tx: sqlite3.Connection) -> list[Finding]:
    """A note with text has its words in the index, and nothing else has."""
    missing = tx.execute(
        "SELECT count(*) FROM notes n WHERE n.text != '' AND NOT EXISTS"
        " (SELECT 1 FROM notes_text_docsize d WHERE d.id = n.seq)"
    ).fetchone()[0]
    foreign = tx.execute(
        "SELECT count(*) FROM notes_text_docsize d WHERE NOT EXISTS"
        " (SELECT 1 FROM notes n WHERE n.seq = d.id AND (n.text != '' OR n.raw IS NOT NULL))"
    ).fetchone()[0]
    found = [
        Finding("notes are missing from full text", missing),
        Finding("full-text rows have no note", foreign),
    ]
    return [*found, Finding("notes are not found by their own words", _unfound(tx))]


def _unfound(tx: sqlite3.Connection) -> int:
    rows = tx.execute("SELECT seq, text FROM notes WHERE text != '' ORDER BY random() LIMIT ?", (SAMPLE,))
    return sum(not _is_found(tx, row["seq"], row["text"]) for row in rows.fetchall())


def _is_found(tx: sqlite3.Connection, seq: int, text: str) -> bool:
    plain = [word for word in words(text).split() if word.isalnum()][:3]
    match = " AND ".join(f'"{word}"' for word in plain)
    if not match:
        return True
    query = "SELECT 1 FROM notes_text WHERE notes_text MATCH ? AND rowid = ?"
    return tx.execute(query, (match, seq)).fetchone() is not None


def mend_full_text(tx: sqlite3.Connection) -> None:
    """Made anew from the notes."""
    tx.execute("INSERT INTO notes_text (notes_text) VALUES ('delete-all')")
    after = 0
    while rows := tx.execute(
        "SELECT seq, text FROM notes WHERE seq > ? AND (text != '' OR raw IS NOT NULL) ORDER BY seq LIMIT ?",
        (after, BATCH),
    ).fetchall():
        tx.executemany(
            "INSERT INTO notes_text (rowid, words) VALUES (?, ?)",
            [(row["seq"], words(row["text"])) for row in rows],
        )
        after = rows[-1]["seq"]


_FOREIGN_VECTORS = (
    "FROM embeddings WHERE NOT EXISTS (SELECT 1 FROM notes n WHERE n.seq = embeddings.seq AND n.deleted = 0"
    " AND n.text != '') OR NOT EXISTS (SELECT 1 FROM embedders b WHERE b.embedder = embeddings.embedder"
    " AND (vector IS NULL OR length(vector) = b.width))"
)


def vectors(tx: sqlite3.Connection) -> list[Finding]:
    """A vector has its note, its embedder, and the width of that."""
    count = tx.execute(f"SELECT count(*) {_FOREIGN_VECTORS}").fetchone()[0]
    behind = tx.execute(
        "SELECT count(*) FROM embedders b JOIN notes n ON n.seq <= b.upto WHERE n.deleted = 0 AND n.text != ''"
        " AND NOT EXISTS (SELECT 1 FROM embeddings e WHERE e.seq = n.seq AND e.embedder = b.embedder)"
    ).fetchone()[0]
    return [
        Finding("vectors belong to no note or no embedder", count),
        Finding("notes have no vector and do not wait for one", behind),
    ]


def mend_vectors(tx: sqlite3.Connection) -> None:
    """What lacks its vector afterwards waits for it."""
    tx.execute(f"DELETE {_FOREIGN_VECTORS}")
    tx.execute("UPDATE embedders SET upto = 0")


_OF_NOTES = ("surfaces", "edges", "topics", "addresses", "manas_notes")


def rows_of_notes(tx: sqlite3.Connection) -> list[Finding]:
    """What is told of a note has its note."""
    return [
        Finding(
            f"rows of {table} have no note",
            tx.execute(
                f"SELECT count(*) FROM {table} t WHERE NOT EXISTS (SELECT 1 FROM notes n WHERE n.seq = t.seq)"  # noqa: S608
            ).fetchone()[0],
        )
        for table in _OF_NOTES
    ]


def mend_rows_of_notes(tx: sqlite3.Connection) -> None:
    for table in _OF_NOTES:
        tx.execute(f"DELETE FROM {table} WHERE seq NOT IN (SELECT seq FROM notes)")  # noqa: S608


CHECKS = (
    Check("full text", full_text, mend_full_text),
    Check("vectors", vectors, mend_vectors),
    Check("rows of notes", rows_of_notes, mend_rows_of_notes),
)

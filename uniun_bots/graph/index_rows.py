"""What an index reads of the table."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from uniun_bots.graph.embeddings import Registered
from uniun_bots.graph.scope import Scope, from_where
from uniun_bots.graph.vector_index import Mark

PAGE = 1_000


@dataclass(frozen=True, slots=True)
class Changes:
    gone: tuple[int, ...]
    fresh: tuple[tuple[int, bytes], ...]
    mark: Mark
    more: bool


def newest(tx: sqlite3.Connection) -> Mark:
    """The last change ever made, also when its row is gone."""
    found = {row[0]: int(row[1]) for row in tx.execute("SELECT name, seq FROM sqlite_sequence")}
    return Mark(found.get("embeddings", 0), found.get("embeddings_gone", 0))


def vectors_held(tx: sqlite3.Connection, embedder: int) -> int:
    return int(
        tx.execute(
            "SELECT (SELECT count(*) FROM embeddings WHERE embedder = ?1)"
            " - (SELECT count(*) FROM embeddings WHERE embedder = ?1 AND vector IS NULL)",
            (embedder,),
        ).fetchone()[0]
    )


def changes(tx: sqlite3.Connection, embedder: Registered, since: Mark) -> Changes:
    """The next page after `since`. Rows of a wrong width are left out: no distance to them means anything."""
    last = newest(tx)
    gone = tx.execute(
        "SELECT change, seq FROM embeddings_gone WHERE change > ? AND embedder = ? ORDER BY change",
        (since.gone, embedder.id),
    ).fetchall()
    rows = tx.execute(
        "SELECT change, seq, vector FROM embeddings WHERE change > ? AND embedder = ?"
        " AND length(vector) = ? ORDER BY change LIMIT ?",
        (since.change, embedder.id, embedder.width, PAGE),
    ).fetchall()
    more = len(rows) == PAGE
    mark = Mark(rows[-1]["change"] if more else last.change, last.gone)
    fresh = tuple((row["seq"], row["vector"]) for row in rows)
    return Changes(tuple(row["seq"] for row in gone), fresh, mark, more)


def forget_gone(tx: sqlite3.Connection, upto: int) -> None:
    """What a saved index has taken in."""
    tx.execute("DELETE FROM embeddings_gone WHERE change <= ?", (upto,))


def vectors_within(
    tx: sqlite3.Connection, embedder: Registered, scope: Scope, at_most: int, seqs: range | None = None
) -> list[tuple[int, bytes]]:
    """Vectors of up to so many notes of a scope; with `seqs` of those arrival numbers only."""
    source, parameters = from_where(scope)
    window, numbers = ("", []) if seqs is None else (" AND n.seq >= ? AND n.seq < ?", [seqs.start, seqs.stop])
    rows = tx.execute(
        "SELECT n.seq, (SELECT e.vector FROM embeddings e WHERE e.seq = n.seq AND e.embedder = ?)"  # noqa: S608
        f" {source}{window} LIMIT ?",
        (embedder.id, *parameters, *numbers, at_most),
    )
    return [(row[0], row[1] or b"") for row in rows]

"""The nearest notes of a scope. What is nearest is told by the index, what counts by the tables: so scope is exact."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Sequence

from uniun_bots.database.store import Store
from uniun_bots.graph.by_words import FIRST_LOOK
from uniun_bots.graph.scope import Condition, Scope, from_where, where
from uniun_bots.graph.vector_index import Near, VectorIndex

SECOND_LOOK = 8
"""Times as many as at first. A scope that still lacks some is small, or lies far from the question."""
MOST_AT_ONCE = 12_000
"""Notes of a scope that are read in one go."""
WINDOW = 50_000
"""Of a larger scope: arrival numbers that are looked through in one read."""


async def nearest(
    store: Store,
    index: VectorIndex,
    vector: bytes,
    scope: Scope,
    limit: int,
    few: Sequence[int] | None = None,
) -> list[Near]:
    """The nearest first. `few`: what `few_of` says of the scope. None of another width than the index holds."""
    if len(vector) != index.embedder.width:
        return []
    ranking = await asyncio.to_thread(index.compare, vector, few)
    first = limit + limit // 4 if scope.everything or few is not None else FIRST_LOOK * limit
    for looked_at in (first, SECOND_LOOK * first):
        near = await asyncio.to_thread(ranking.best, looked_at)
        counting = await store.read(lambda tx: _counting(tx, [one.seq for one in near], scope, index))  # noqa: B023
        found = [one for one in near if one.seq in counting]
        if len(found) >= limit or looked_at >= len(ranking):
            return found[:limit]
    seqs = await _all_counting(store, scope, index)
    return await asyncio.to_thread(lambda: ranking.of(seqs).best(limit))


def _counts(scope: Scope, index: VectorIndex) -> Condition:
    """The index may lag behind: the vector of a note that changed or went is in it and not in the table."""
    test, parameters = where(scope)
    held = (
        "EXISTS (SELECT 1 FROM embeddings e INDEXED BY embeddings_given"
        " WHERE e.seq = n.seq AND e.embedder = ? AND e.vector IS NOT NULL)"
    )
    return f"{test} AND {held}", [*parameters, index.embedder.id]


def _counting(tx: sqlite3.Connection, seqs: Sequence[int], scope: Scope, index: VectorIndex) -> set[int]:
    test, parameters = _counts(scope, index)
    rows = tx.execute(
        f"SELECT n.seq FROM json_each(?) j CROSS JOIN notes n ON n.seq = j.value WHERE {test}",  # noqa: S608
        (str(list(seqs)), *parameters),
    )
    return {row[0] for row in rows}


async def _all_counting(store: Store, scope: Scope, index: VectorIndex) -> list[int]:
    """In portions, so that nobody else waits long."""
    some = await store.read(lambda tx: _some_of(tx, scope, MOST_AT_ONCE + 1))
    if len(some) <= MOST_AT_ONCE:
        return sorted(await store.read(lambda tx: _counting(tx, some, scope, index)))
    newest = await store.read(lambda tx: tx.execute("SELECT max(seq) FROM notes").fetchone()[0])
    found: list[int] = []
    for start in range(0, newest + 1, WINDOW):
        found += await store.read(lambda tx: _within_window(tx, scope, index, start))  # noqa: B023
    return found


def _some_of(tx: sqlite3.Connection, scope: Scope, at_most: int) -> list[int]:
    source, parameters = from_where(scope)
    return [row[0] for row in tx.execute(f"SELECT n.seq {source} LIMIT ?", (*parameters, at_most))]


def _within_window(tx: sqlite3.Connection, scope: Scope, index: VectorIndex, start: int) -> list[int]:
    test, parameters = _counts(scope, index)
    rows = tx.execute(
        f"SELECT n.seq FROM notes n NOT INDEXED WHERE n.seq >= ? AND n.seq < ? AND {test}",  # noqa: S608
        (start, start + WINDOW, *parameters),
    )
    return [row[0] for row in rows]

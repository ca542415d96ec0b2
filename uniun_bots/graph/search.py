"""Search: the notes of a scope that a question is about, by its words and by its meaning, fused by rank."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from uniun_bots.database.store import Store
from uniun_bots.graph.by_words import by_words
from uniun_bots.graph.find import COLUMNS, as_note
from uniun_bots.graph.note import Note
from uniun_bots.graph.scope import Scope, few_of, where
from uniun_bots.graph.vectors import Vectors

DEPTH = 100
"""Places of each list that are looked at."""
FEW = 12_000
"""A scope of so many notes is read first and searched whole; of a larger one the best of all are tried."""
RANK_OFFSET = 60
"""Reciprocal rank fusion: place n counts 1 / (RANK_OFFSET + n)."""


@dataclass(frozen=True, slots=True)
class Hit:
    note: Note
    score: float
    """Larger is better; comparable within one search only."""


async def search(
    store: Store, vectors: Vectors | None, question: str, scope: Scope, limit: int = 5
) -> list[Hit]:
    """The best first. Without an embedder, or while it is broken, by words alone."""
    depth = max(DEPTH, limit)
    few = await store.read(lambda tx: few_of(tx, scope, FEW))
    # Followed before the words are asked: the store has one reader. Then both lists are made side by side.
    index = await vectors.index() if vectors and question.strip() else None
    words = store.read(lambda tx: by_words(tx, question, scope, depth, few))
    if vectors is None or index is None:
        ranked = fuse(await words)[:limit]
    else:
        found, near = await asyncio.gather(words, vectors.near(index, question, scope, depth, few))
        ranked = fuse(found, [one.seq for one in near])[:limit]
    return await store.read(lambda tx: _hits(tx, ranked, scope))


def fuse(*lists: Sequence[int]) -> list[tuple[int, float]]:
    """Arrival numbers with their scores. What stands in several lists counts in each."""
    scores: dict[int, float] = {}
    for ranked in lists:
        for place, seq in enumerate(ranked, 1):
            scores[seq] = scores.get(seq, 0.0) + 1.0 / (RANK_OFFSET + place)
    return sorted(scores.items(), key=lambda item: (-item[1], -item[0]))


def _hits(tx: sqlite3.Connection, ranked: Sequence[tuple[int, float]], scope: Scope) -> list[Hit]:
    """Held against the scope once more: a note may have gone meanwhile."""
    test, parameters = where(scope)
    rows = tx.execute(
        f"SELECT {COLUMNS} FROM json_each(?) j CROSS JOIN notes n ON n.seq = j.value WHERE {test}",  # noqa: S608
        (str([seq for seq, _ in ranked]), *parameters),
    )
    notes = {row["seq"]: as_note(row) for row in rows}
    return [Hit(notes[seq], score) for seq, score in ranked if seq in notes]

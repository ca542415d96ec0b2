"""Scope is exact: what is nearest within it comes back, whatever lies around it."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

import pytest

from tests.factory import NOW, hex_of
from tests.graph.library import EVERYTHING, clustered, true_nearest
from tests.stores import store as store
from uniun_bots.database.store import Store
from uniun_bots.graph import nearest as room
from uniun_bots.graph.embeddings import register
from uniun_bots.graph.nearest import nearest
from uniun_bots.graph.scope import Scope, few_of
from uniun_bots.graph.vector_index import VectorIndex
from uniun_bots.graph.vectors import Vectors
from uniun_bots.inference.embed.scripted import ScriptedEmbedder

WIDTH = 32
COUNT = 3_000


def author_of(n: int) -> str:
    """10 notes, one in a hundred, a tenth, or the rest."""
    if n % 300 == 0:
        return "ten"
    return "percent" if n % 100 == 1 else "tenth" if n % 10 == 2 else "many"


SCOPES = {
    "10 notes": Scope(authors=(hex_of("author ten"),)),
    "1 %": Scope(authors=(hex_of("author percent"),)),
    "10 %": Scope(authors=(hex_of("author tenth"),)),
    "most": Scope(authors=(hex_of("author many"),)),
    "a span": Scope(everything=True, since=NOW + 100, until=NOW + 400),
    "half": Scope(everything=True, since=NOW + COUNT // 2),
    "all": EVERYTHING,
    "none": Scope(authors=(hex_of("nobody"),)),
}


@dataclass(frozen=True)
class Crowd:
    """COUNT notes with vectors in heaps."""

    store: Store
    index: VectorIndex
    vectors: list[bytes]

    async def seqs(
        self, asked: bytes, scope: Scope, limit: int = 10, few: Sequence[int] | None = None
    ) -> list[int]:
        return [one.seq for one in await nearest(self.store, self.index, asked, scope, limit, few)]

    async def true(self, asked: bytes, scope: Scope, limit: int = 10) -> list[int]:
        return await self.store.read(lambda tx: true_nearest(tx, asked, scope, limit))


@pytest.fixture
async def crowd(store: Store) -> AsyncIterator[Crowd]:
    made, embedder = clustered(COUNT, WIDTH), ScriptedEmbedder(width=WIDTH)
    info = await embedder.load()
    known = await store.write(lambda tx: register(tx, info))

    def fill(tx: sqlite3.Connection) -> None:
        rows = [
            (hex_of(f"note {n}"), hex_of(f"author {author_of(n)}"), NOW + n, f"note {n}")
            for n in range(COUNT)
        ]
        tx.executemany(
            "INSERT INTO notes (id, author, kind, created_at, text, origin, heard_at, raw)"
            " VALUES (?, ?, 1, ?, ?, 'relay', 0, x'00')",
            rows,
        )
        tx.executemany(
            "INSERT INTO embeddings (embedder, seq, vector) VALUES (?, ?, ?)",
            [(known.id, seq, vector) for seq, vector in enumerate(made, 1)],
        )

    await store.write(fill)
    vectors = Vectors(store, embedder)
    yield Crowd(store, await vectors.follow(), made)
    await vectors.aclose()


@pytest.mark.parametrize("scope", SCOPES.values(), ids=SCOPES)
@pytest.mark.parametrize("way", ["of all", "read first", "in windows"])
async def test_a_search_in_a_scope_returns_the_true_best_of_it(
    crowd: Crowd, scope: Scope, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if way == "in windows":
        monkeypatch.setattr(room, "SECOND_LOOK", 1)
        monkeypatch.setattr(room, "MOST_AT_ONCE", 20)
        monkeypatch.setattr(room, "WINDOW", 700)
    few = await crowd.store.read(lambda tx: few_of(tx, scope, COUNT)) if way == "read first" else None
    for asked in random.Random(3).sample(crowd.vectors, 4):
        assert await crowd.seqs(asked, scope, 10, few) == await crowd.true(asked, scope)


async def test_what_went_since_a_small_scope_was_read_takes_no_place(crowd: Crowd) -> None:
    asked, scope = crowd.vectors[1], SCOPES["1 %"]
    few = await crowd.store.read(lambda tx: few_of(tx, scope, COUNT))
    first = await crowd.seqs(asked, scope, 30, few)
    hide = "UPDATE notes SET audience = 'dm:one' WHERE seq = ?"
    await crowd.store.write(lambda tx: tx.executemany(hide, [(seq,) for seq in first[:15]]))
    assert await crowd.seqs(asked, scope, 5, few) == first[15:20]


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE notes SET deleted = 1 WHERE seq = ?",
        "UPDATE notes SET text = 'quite another' WHERE seq = ?",
        "UPDATE embeddings SET vector = NULL WHERE seq = ?",
    ],
    ids=["deleted", "changed", "refused"],
)
async def test_a_vector_that_is_no_longer_in_the_table_finds_nothing(crowd: Crowd, change: str) -> None:
    asked = crowd.vectors[4]
    first, *rest = await crowd.seqs(asked, EVERYTHING, 6)
    await crowd.store.write(lambda tx: tx.execute(change, (first,)))
    assert await crowd.seqs(asked, EVERYTHING, 5) == rest


async def test_a_question_of_another_width_finds_nothing(crowd: Crowd) -> None:
    assert await crowd.seqs(bytes([1] * (WIDTH + 1)), EVERYTHING) == []

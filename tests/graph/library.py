"""A store with notes and their vectors, and the slow and certain way to search them."""

from __future__ import annotations

import math
import random
import sqlite3
from array import array
from collections.abc import Iterable, Sequence

from tests.factory import ALICE, NOW, event, heard
from uniun_bots.clock import WallClock
from uniun_bots.database.store import Store
from uniun_bots.graph.embeddings import put, queue, register
from uniun_bots.graph.keep import keep
from uniun_bots.graph.scope import Scope, where
from uniun_bots.graph.vector_index import Near
from uniun_bots.graph.vectors import Vectors
from uniun_bots.inference.embed.embedder import Embedder
from uniun_bots.inference.embed.scripted import ScriptedEmbedder
from uniun_bots.inference.embed.vector import pack
from uniun_bots.nostr.event import Event

EVERYTHING = Scope(everything=True)


async def keep_texts(store: Store, *texts: str, author: str = ALICE, at: int = NOW) -> list[Event]:
    events = [event(text, author=author, at=at + place) for place, text in enumerate(texts)]
    await store.write(lambda tx: keep(tx, heard(*events)))
    return events


async def know(store: Store, text: str, author: str = ALICE) -> Event:
    """A note of now, which a host keeps."""
    now = WallClock().now()
    note = event(text, author=author, at=int(now))
    await store.write(lambda tx: keep(tx, heard(note, at=now)))
    return note


async def embed_all(store: Store, embedder: Embedder) -> int:
    """As the host does it in the background; returns the embedder's number in the table."""
    info = await embedder.load()
    known = await store.write(lambda tx: register(tx, info))
    while True:
        found = await store.read(lambda tx: queue(tx, known.id, 50))
        vectors = await embedder.embed([one.text for one in found.waiting])
        pairs = list(zip(found.waiting, vectors, strict=True))
        await store.write(lambda tx: put(tx, known.id, found, pairs))  # noqa: B023
        if not found.waiting and not found.more:
            return known.id


def vectors_over(store: Store, embedder: Embedder | None = None, *, patience_s: float = 20.0) -> Vectors:
    return Vectors(store, embedder or ScriptedEmbedder(), patience_s=patience_s)


async def near(
    vectors: Vectors,
    question: str,
    scope: Scope = EVERYTHING,
    limit: int = 3,
    few: Sequence[int] | None = None,
) -> list[Near]:
    """By meaning alone."""
    index = await vectors.index()
    return await vectors.near(index, question, scope, limit, few) if index else []


def clustered(count: int, width: int, seed: int = 7, clusters: int = 50) -> list[bytes]:
    """Vectors that lie in heaps, as those of real texts do."""
    chance = random.Random(seed)
    centres = [[chance.gauss(0, 1) for _ in range(width)] for _ in range(clusters)]
    return [
        pack([number + 0.8 * chance.gauss(0, 1) for number in chance.choice(centres)]) for _ in range(count)
    ]


def true_nearest(tx: sqlite3.Connection, vector: bytes, scope: Scope, limit: int) -> list[int]:
    """Brute force in plain Python."""
    test, parameters = where(scope)
    rows = tx.execute(
        f"SELECT n.seq, e.vector FROM notes n JOIN embeddings e ON e.seq = n.seq WHERE {test}",  # noqa: S608
        parameters,
    )
    ranked = sorted((_distance(vector, row[1]), row[0]) for row in rows if row[1])
    return [seq for _, seq in ranked[:limit]]


def _distance(one: bytes, other: bytes) -> float:
    first, second = array("b", one), array("b", other)
    dot = sum(a * b for a, b in zip(first, second, strict=True))
    return 1.0 - dot / math.sqrt(sum(a * a for a in first) * sum(b * b for b in second))


def recall(found: Sequence[int], true: Iterable[int]) -> float:
    wanted = set(true)
    return len(wanted & set(found)) / len(wanted) if wanted else 1.0

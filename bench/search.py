"""How fast search is and how much of the truth it finds, on 100,000 and 1,000,000 synthetic notes (--quick: 20,000).

A search goes through both lists: words with everyday ones among them, and a vector of 384 numbers, which a stand-in
gives at once (what an embedder takes for a question is not measured here). Scopes of 10 notes, of 1 % and of 50 % by
author, and everything. Beside it: the same vectors by numpy, one by one. Recall is held against that, over all the
places of a list that a search fuses. `build_s`: the index is read from its table, as after each start of a host.
"""

from __future__ import annotations

import asyncio
import hashlib
import sqlite3
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bench.library import AT, Wordy
from bench.report import arguments, quantile, report
from uniun_bots.database.store import Store
from uniun_bots.graph.embeddings import register
from uniun_bots.graph.nearest import nearest
from uniun_bots.graph.scope import Scope, few_of
from uniun_bots.graph.search import DEPTH, FEW, search
from uniun_bots.graph.vector_index import VectorIndex
from uniun_bots.graph.vectors import Vectors
from uniun_bots.graph.words import words
from uniun_bots.inference.embed.embedder import EmbedderInfo

WIDTH = 384
CLUSTERS = 2_000
NOISE = 0.9
BATCH = 10_000
BEST = 10
Matrix = npt.NDArray[np.int8]


def hex_of(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()


def author_of(number: int, count: int) -> str:
    """10 notes by one, 1 % by another, 50 % by a third."""
    if number % (count // 10) == 5:
        return "ten"
    if number % 100 == 1:
        return "percent"
    return "half" if number % 2 == 0 else f"person {number % 97}"


SCOPES = {
    "all": Scope(everything=True),
    "ten": Scope(authors=(hex_of("ten"),)),
    "percent": Scope(authors=(hex_of("percent"),)),
    "half": Scope(authors=(hex_of("half"),)),
}


def matrices(count: int) -> Iterator[Matrix]:
    """Vectors in heaps, as those of real texts lie, a batch at a time."""
    chance = np.random.default_rng(11)
    centres = chance.normal(size=(CLUSTERS, WIDTH)).astype(np.float32)
    for start in range(0, count, BATCH):
        size = min(BATCH, count - start)
        noise = chance.normal(scale=NOISE, size=(size, WIDTH)).astype(np.float32)
        numbers = centres[chance.integers(0, CLUSTERS, size)] + noise
        yield packed(numbers)


def packed(numbers: npt.NDArray[np.float32]) -> Matrix:
    found: Matrix = np.round(numbers / np.abs(numbers).max(axis=1, keepdims=True) * 127).astype(np.int8)
    return found


class Given:
    """An embedder that is told what vector comes next."""

    name = "given"
    next = b""

    async def load(self) -> EmbedderInfo:
        return EmbedderInfo(self.name, WIDTH, bytes([1] * WIDTH))

    async def embed(self, texts: Sequence[str], *, urgent: bool = False) -> list[bytes | None]:
        return [self.next for _ in texts]

    async def aclose(self) -> None:
        self.next = b""


async def fill(store: Store, count: int, embedder: int) -> Matrix:
    """Notes, their words and their vectors, without the way through a relay. Returns all vectors."""
    texts, made, number = Wordy(5).texts(count), [], 0
    for batch in matrices(count):
        numbers = range(number + 1, number + len(batch) + 1)
        rows = [(one, text) for one, text in zip(numbers, texts, strict=False)]
        await store.write(lambda tx: insert(tx, rows, batch, count, embedder))  # noqa: B023
        made.append(batch)
        number += len(batch)
    return np.concatenate(made)


def insert(
    tx: sqlite3.Connection, rows: Sequence[tuple[int, str]], vectors: Matrix, count: int, embedder: int
) -> None:
    tx.executemany(
        "INSERT INTO notes (seq, id, author, kind, created_at, text, origin, heard_at, raw)"
        " VALUES (?, ?, ?, 1, ?, ?, 'relay', 0, x'00')",
        [(one, hex_of(str(one)), hex_of(author_of(one, count)), AT + one, text) for one, text in rows],
    )
    tx.executemany(
        "INSERT INTO notes_text (rowid, words) VALUES (?, ?)", [(one, words(text)) for one, text in rows]
    )
    tx.executemany(
        "INSERT INTO embeddings (embedder, seq, vector) VALUES (?, ?, ?)",
        [(embedder, one, vector.tobytes()) for (one, _), vector in zip(rows, vectors, strict=True)],
    )
    tx.execute("UPDATE embedders SET upto = ?", (rows[-1][0],))


def brute_force(vectors: Matrix, allowed: npt.NDArray[np.int64], asked: Matrix) -> list[int]:
    """Arrival numbers of the true best."""
    best: list[tuple[float, int]] = []
    question = asked.astype(np.float32)
    for start in range(0, len(allowed), 50_000):
        some = allowed[start : start + 50_000]
        many = vectors[some].astype(np.float32)
        near = (many @ question) / np.linalg.norm(many, axis=1)
        for at in np.argpartition(-near, min(DEPTH, len(near) - 1))[:DEPTH]:
            best.append((-float(near[at]), int(some[at]) + 1))
    return [seq for _, seq in sorted(best)[:DEPTH]]


def questions(vectors: Matrix, count: int) -> list[Matrix]:
    """Near to some note, but not its own vector."""
    chance = np.random.default_rng(13)
    near = vectors[chance.integers(0, len(vectors), count)].astype(np.float32)
    return list(packed(near + chance.normal(scale=8, size=near.shape).astype(np.float32)))


async def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Milliseconds, and what came."""
    began = time.perf_counter()
    found = await work()
    return 1000 * (time.perf_counter() - began), found


async def memory_mb(store: Store, given: Given) -> float:
    """Of an index that holds all vectors. What is resident says less: it reuses what the making of notes left."""
    tracemalloc.start()
    vectors = Vectors(store, given)
    await vectors.follow()
    taken, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    await vectors.aclose()
    return taken / 1e6


async def measure_scope(
    store: Store, vectors: Vectors, given: Given, name: str, asked: Sequence[Matrix]
) -> dict[str, float]:
    scope, wordy, took = SCOPES[name], Wordy(17), []
    for vector in asked:
        given.next = vector.tobytes()
        question = wordy.question()
        ms, _ = await timed(lambda: search(store, vectors, question, scope, BEST))  # noqa: B023
        took.append(ms)
    return {"p50": round(quantile(took, 0.5), 2), "p95": round(quantile(took, 0.95), 2)}


async def measure_recall(
    store: Store, index: VectorIndex, name: str, made: Matrix, asked: Sequence[Matrix]
) -> dict[str, float]:
    """Afterwards: the threads of numpy stay busy for a while after each of its answers."""
    scope = SCOPES[name]
    few = await store.read(lambda tx: few_of(tx, scope, FEW))
    allowed = np.array(
        [at for at in range(len(made)) if name == "all" or author_of(at + 1, len(made)) == name]
    )
    recalls, plain = [], []
    for vector in asked:
        near = await nearest(store, index, vector.tobytes(), scope, DEPTH, few)
        began = time.perf_counter()
        true = brute_force(made, allowed, vector)
        plain.append(1000 * (time.perf_counter() - began))
        recalls.append(len({one.seq for one in near} & set(true)) / len(true))
    return {
        "numpy_p50": round(quantile(plain, 0.5), 2),
        "recall": round(sum(recalls) / len(recalls), 4),
    }


async def measure(count: int, asking: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        async with Store(Path(folder) / "graph.sqlite") as store:
            given = Given()
            info = await given.load()
            embedder = await store.write(lambda tx: register(tx, info))
            made = await fill(store, count, embedder.id)
            index_mb = await memory_mb(store, given)
            vectors = Vectors(store, given)
            build_ms, index = await timed(vectors.follow)
            asked = questions(made, asking)
            scopes = {name: await measure_scope(store, vectors, given, name, asked) for name in SCOPES}
            for name in SCOPES:
                scopes[name] |= await measure_recall(store, index, name, made, asked[: asking // 4])
            await vectors.aclose()
    return {
        "notes": count,
        "build_s": round(build_ms / 1000, 2),
        "index_mb": round(index_mb, 1),
        **scopes,
    }


def main() -> None:
    quick = arguments(__doc__).quick
    asking = 60 if quick else 200
    some = asyncio.run(measure(20_000 if quick else 100_000, asking))
    measured = [some]
    report("search.p95.unscoped", some["all"]["p95"], asking, some, quick=quick)
    report("search.p95.scoped", worst(some), asking, some, quick=quick)
    if not quick:
        many = asyncio.run(measure(1_000_000, asking))
        measured.append(many)
        report("search.p95.unscoped.million", many["all"]["p95"], asking, many, quick=quick)
        report("search.p95.scoped.million", worst(many), asking, many, quick=quick)
    recalls = [run[name]["recall"] for run in measured for name in SCOPES]
    report("search.recall", min(recalls), asking, recalls, quick=quick)


def worst(run: dict[str, Any]) -> float:
    return max(float(run[name]["p95"]) for name in SCOPES if name != "all")


if __name__ == "__main__":
    main()

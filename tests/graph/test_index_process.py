"""A large index lives in a process of its own, and answers as one that lives here."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator

import pytest

from tests.graph.library import EVERYTHING, embed_all, keep_texts, true_nearest, vectors_over
from tests.stores import store as store
from uniun_bots.database.store import Store
from uniun_bots.graph import index_file
from uniun_bots.graph import vectors as room
from uniun_bots.graph.index_process import IndexProcess
from uniun_bots.graph.keep import mark_deleted
from uniun_bots.graph.vectors import Vectors
from uniun_bots.inference.embed.scripted import ScriptedEmbedder

TEXTS = [f"{one} {other}" for one in ("tide", "moon", "bread") for other in ("rises", "falls", "waits")]


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "AT_HOME", 4)


@pytest.fixture
async def vectors(store: Store) -> AsyncIterator[Vectors]:
    await keep_texts(store, *TEXTS)
    embedder = ScriptedEmbedder(width=32)
    await embed_all(store, embedder)
    made = vectors_over(store, embedder)
    await made.registered()
    yield made
    await made.aclose()


async def process_of(vectors: Vectors) -> IndexProcess:
    index = await vectors.follow()
    assert isinstance(index, IndexProcess)
    return index


async def nearest(vectors: Vectors, question: str, few: list[int] | None = None) -> list[int]:
    return [one.seq for one in await vectors.near(question, EVERYTHING, 4, few)]


async def test_an_index_in_a_process_answers_as_the_table_does(store: Store, vectors: Vectors) -> None:
    (vector,) = await vectors.embedder.embed(["the tide falls"])
    assert vector is not None
    found = [one.seq for one in await vectors.nearest(vector, EVERYTHING, 4)]
    assert found == await store.read(lambda tx: true_nearest(tx, vector, EVERYTHING, 4))
    assert set(await nearest(vectors, "the tide falls", few=[7, 8])) == {7, 8}
    assert len(await process_of(vectors)) == len(TEXTS) == vectors.status().indexed


async def test_it_follows_the_table(store: Store, vectors: Vectors) -> None:
    await process_of(vectors)
    (note,) = await keep_texts(store, "a whale")
    await embed_all(store, vectors.embedder)
    assert (await nearest(vectors, "a whale"))[0] == len(TEXTS) + 1
    await store.write(lambda tx: mark_deleted(tx, note.id))
    assert len(TEXTS) + 1 not in await nearest(vectors, "a whale")


async def test_it_is_saved_and_begun_again_from_the_file(store: Store, vectors: Vectors) -> None:
    index = await process_of(vectors)
    await vectors.save(1)
    beside = index_file.read_beside(vectors.folder)
    assert beside is not None
    assert beside.count == len(TEXTS)
    assert [name.split("-")[-1] for name in beside.files] == [f"{index.process.pid}.usearch"]
    again = vectors_over(store, vectors.embedder)
    await again.registered()
    assert (await process_of(again)).unsaved == 0
    assert await nearest(again, "bread waits") == await nearest(vectors, "bread waits")
    await again.aclose()


async def test_an_index_that_grows_moves_into_a_process(
    store: Store, vectors: Vectors, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room, "AT_HOME", len(TEXTS))
    assert not isinstance(await vectors.follow(), IndexProcess)
    await keep_texts(store, "a whale")
    await embed_all(store, vectors.embedder)
    await vectors.follow()
    await process_of(vectors)
    assert (await nearest(vectors, "a whale"))[0] == len(TEXTS) + 1


async def test_after_the_death_of_its_process_another_one_answers_the_same(vectors: Vectors) -> None:
    before = await nearest(vectors, "moon rises")
    first = await process_of(vectors)
    os.kill(first.process.pid, signal.SIGKILL)
    await asyncio.to_thread(first.process.wait)
    assert await nearest(vectors, "moon rises") == []
    assert await nearest(vectors, "moon rises") == before
    assert (await process_of(vectors)).process.pid != first.process.pid


async def test_a_file_that_cannot_be_written_is_told_and_the_index_goes_on(vectors: Vectors) -> None:
    await process_of(vectors)
    vectors.folder.parent.mkdir(exist_ok=True)
    vectors.folder.write_text("in the way")
    with pytest.raises(OSError, match="vectors"):
        await vectors.save(1)
    assert len(await nearest(vectors, "moon rises")) == 4
    vectors.folder.unlink()


async def test_it_ends_with_those_who_ask_it(vectors: Vectors) -> None:
    index = await process_of(vectors)
    await vectors.aclose()
    assert index.process.poll() == 0


ORPHANED = """
import os, signal, sys
from pathlib import Path
from uniun_bots.graph.embeddings import Registered
from uniun_bots.graph.index_process import IndexProcess
from uniun_bots.graph.vector_index import Mark

IndexProcess(None, Registered(1, "any", 8, "stamp"), Mark())
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_it_does_not_outlive_a_host_that_was_killed() -> None:
    """Its output ends with the last process that holds it."""
    ended = subprocess.run(
        [sys.executable, "-c", ORPHANED],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=40,
        check=False,
    )
    assert (ended.returncode, ended.stdout) == (-signal.SIGKILL, b"")

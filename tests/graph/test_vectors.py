"""The vectors of notes: the index follows the table, and what goes wrong costs nothing but time."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests.factory import NOW
from tests.graph.library import embed_all, keep_texts, near, vectors_over
from tests.stores import store as store
from uniun_bots.database.store import Store
from uniun_bots.graph import embeddings
from uniun_bots.graph.embeddings import progress, put, queue, register
from uniun_bots.graph.keep import mark_deleted
from uniun_bots.graph.vectors import Vectors
from uniun_bots.inference.embed.embedder import EmbedderInfo
from uniun_bots.inference.embed.scripted import ScriptedEmbedder

WIDTH = 32


@pytest.fixture
def embedder() -> ScriptedEmbedder:
    return ScriptedEmbedder(width=WIDTH)


async def seqs(vectors: Vectors, question: str, limit: int = 3) -> list[int]:
    return [one.seq for one in await near(vectors, question, limit=limit)]


async def test_a_note_that_is_embedded_later_is_found(store: Store, embedder: ScriptedEmbedder) -> None:
    vectors = vectors_over(store, embedder)
    await keep_texts(store, "first tide")
    await embed_all(store, embedder)
    assert await seqs(vectors, "tide") == [1]
    await keep_texts(store, "another moon", at=NOW + 50)
    await embed_all(store, embedder)
    assert await seqs(vectors, "another moon", 1) == [2]
    assert vectors.status().indexed == 2
    await vectors.aclose()


async def test_a_table_of_many_pages_is_read_whole(
    store: Store, embedder: ScriptedEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embeddings, "PAGE", 2)
    texts = [f"note number {n}" for n in range(7)]
    await keep_texts(store, *texts)
    await embed_all(store, embedder)
    vectors = vectors_over(store, embedder)
    assert await seqs(vectors, texts[-1], 1) == [7]
    assert vectors.status().indexed == 7
    await vectors.aclose()


async def test_rows_of_another_embedder_are_looked_through_once(
    store: Store, embedder: ScriptedEmbedder
) -> None:
    await keep_texts(store, "a tide", "the moon")
    await embed_all(store, embedder)
    await embed_all(store, ScriptedEmbedder(name="other", width=WIDTH))
    vectors = vectors_over(store, embedder)
    assert (await vectors.follow()).upto == 4
    await store.write(lambda tx: tx.execute("DELETE FROM embeddings WHERE embedder = 2"))
    assert (await vectors.follow()).upto == 4
    await vectors.aclose()


async def test_a_row_of_another_width_is_passed_over(store: Store, embedder: ScriptedEmbedder) -> None:
    await keep_texts(store, "a tide", "the moon")
    await embed_all(store, embedder)
    await store.write(lambda tx: tx.execute("UPDATE embeddings SET vector = x'0102' WHERE seq = 1"))
    vectors = vectors_over(store, embedder)
    assert await seqs(vectors, "tide") == [2]
    await vectors.aclose()


async def test_a_deleted_note_is_not_found(store: Store, embedder: ScriptedEmbedder) -> None:
    vectors = vectors_over(store, embedder)
    gone, _ = await keep_texts(store, "a tide", "the moon")
    await embed_all(store, embedder)
    assert sorted(await seqs(vectors, "tide")) == [1, 2]
    await store.write(lambda tx: mark_deleted(tx, gone.id))
    assert await seqs(vectors, "tide") == [2]
    await vectors.aclose()


async def test_a_note_whose_text_changed_is_found_by_its_new_vector(
    store: Store, embedder: ScriptedEmbedder
) -> None:
    """E12: an index that is given a key again must not keep the old place."""
    vectors = vectors_over(store, embedder)
    await keep_texts(store, "a tide", "the moon", "some bread")
    number = await embed_all(store, embedder)
    assert await seqs(vectors, "tide", 1) == [1]
    await store.write(lambda tx: tx.execute("UPDATE notes SET text = 'rye loaf' WHERE seq = 1"))
    assert (await store.read(lambda tx: queue(tx, number, 9))).waiting[0].text == "rye loaf"
    assert 1 not in await seqs(vectors, "a tide"), "its old vector finds nothing any more"
    await embed_all(store, embedder)
    (nearest,) = await near(vectors, "rye loaf", limit=1)
    assert (nearest.seq, round(nearest.distance, 3)) == (1, 0.0)
    before = {one.seq: one.distance for one in await near(vectors, "a tide")}
    assert before[1] > 0.5
    await vectors.aclose()


async def test_an_index_that_is_still_read_costs_a_question_its_patience_and_no_more(
    store: Store, embedder: ScriptedEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    await keep_texts(store, "a tide")
    await embed_all(store, embedder)
    vectors, opened = vectors_over(store, embedder, patience_s=0.01), asyncio.Event()
    read_on = vectors._read_on

    async def slow(*given: object) -> None:
        await opened.wait()
        await read_on(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(vectors, "_read_on", slow)
    assert await vectors.index() is None
    assert vectors.status().fault == "no vector within 0.01 s"
    opened.set()
    await vectors.follow()
    vectors._patience_s = 20.0
    assert await seqs(vectors, "tide") == [1]
    assert vectors.status().fault == ""
    await vectors.aclose()


KILLED = """
    import asyncio, os, signal, sys
    from pathlib import Path
    from tests.graph.library import keep_texts
    from uniun_bots.database.store import Store
    from uniun_bots.graph.embeddings import put, queue, register
    from uniun_bots.inference.embed.scripted import ScriptedEmbedder

    async def main(path):
        embedder = ScriptedEmbedder(width=32)
        async with Store(Path(path)) as store:
            await keep_texts(store, "one more note", "and another", at=1_750_000_999)
            info = await embedder.load()
            known = await store.write(lambda tx: register(tx, info))
            found = await store.read(lambda tx: queue(tx, known.id, 9))
            vectors = await embedder.embed([one.text for one in found.waiting])
            def dying(tx):
                put(tx, known.id, found, list(zip(found.waiting, vectors, strict=True)))
                os.kill(os.getpid(), signal.SIGKILL)
            await store.write(dying)

    asyncio.run(main(sys.argv[1]))
"""


@pytest.mark.force
async def test_kill_9_while_vectors_are_written_leaves_a_graph_that_reads_the_same(
    tmp_path: Path, embedder: ScriptedEmbedder
) -> None:
    path = tmp_path / "data" / "graph.sqlite"
    async with Store(path) as store:
        await keep_texts(store, "a tide", "the moon")
        await embed_all(store, embedder)
    command = [sys.executable, "-c", textwrap.dedent(KILLED), str(path)]
    done = await asyncio.to_thread(subprocess.run, command, check=False)
    assert done.returncode == -signal.SIGKILL
    async with Store(path) as store:
        vectors = vectors_over(store, embedder)
        assert sorted(await seqs(vectors, "moon", 9)) == [1, 2]
        await embed_all(store, embedder)
        assert sorted(await seqs(vectors, "moon", 9)) == [1, 2, 3, 4]
        assert await seqs(vectors, "one more note", 1) == [3]
        await vectors.aclose()


# another embedder --------------------------------------------------------------------------------------


async def test_an_embedder_of_equal_width_is_not_asked_about_vectors_of_the_one_before(
    store: Store, embedder: ScriptedEmbedder
) -> None:
    """E08, and its quiet sister: the same width, the same name, other vectors."""
    await keep_texts(store, "a tide", "the moon")
    await embed_all(store, embedder)
    vectors = vectors_over(store, embedder)
    assert await seqs(vectors, "moon", 1) == [2]
    for name in ("other", "scripted"):
        other = ScriptedEmbedder(name="other", width=WIDTH)
        probe = other._vector(f"quite another text for {name}") or b""
        other.name = name

        async def load(name: str = name, probe: bytes = probe) -> EmbedderInfo:
            return EmbedderInfo(name, WIDTH, probe)

        other.load = load  # type: ignore[method-assign]
        again = vectors_over(store, other)
        assert await seqs(again, "moon") == []
        await again.aclose()
    await vectors.aclose()


async def test_a_running_search_that_gets_another_embedder_reads_its_vectors(
    store: Store, embedder: ScriptedEmbedder
) -> None:
    """E08: a server may change its model behind the same address; another width raises nothing."""
    await keep_texts(store, "a tide", "the moon", "some bread")
    await embed_all(store, embedder)
    vectors = vectors_over(store, embedder)
    assert (await seqs(vectors, "moon"))[0] == 2
    vectors.embedder = wider = ScriptedEmbedder(width=2 * WIDTH)
    assert await seqs(vectors, "moon") == []
    await embed_all(store, wider)
    assert (await seqs(vectors, "moon"))[0] == 2
    await vectors.aclose()


async def test_vectors_of_the_embedder_before_stay_until_the_new_ones_are_whole(
    store: Store, embedder: ScriptedEmbedder
) -> None:
    """E10: the work is counted row by row, and a restart in the middle goes on there."""
    await keep_texts(store, *(f"note number {n}" for n in range(100)))
    first = await embed_all(store, embedder)
    other = ScriptedEmbedder(name="other", width=WIDTH)
    info = await other.load()
    second = (await store.write(lambda tx: register(tx, info))).id
    half = await store.read(lambda tx: queue(tx, second, 50))
    pairs = [(one, other._vector(one.text)) for one in half.waiting]
    await store.write(lambda tx: put(tx, second, half, pairs))
    assert (await store.read(lambda tx: progress(tx, first))).embedded == 100
    assert (await store.read(lambda tx: progress(tx, second))).waiting == 50
    await embed_all(store, other)
    assert (await store.read(lambda tx: progress(tx, second))).embedded == 100
    vectors = vectors_over(store, other)
    assert await seqs(vectors, "note number 77", 1) == [78]
    await vectors.aclose()

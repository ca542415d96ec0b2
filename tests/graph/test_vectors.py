"""The vectors of notes: scope is exact, the index is derived, and what goes wrong costs nothing but time."""

from __future__ import annotations

import asyncio
import json
import random
import signal
import sqlite3
import subprocess
import sys
import textwrap
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from tests.factory import NOW, hex_of
from tests.graph.library import (
    EVERYTHING,
    clustered,
    embed_all,
    keep_texts,
    recall,
    true_nearest,
    vectors_over,
)
from tests.stores import store as store
from uniun_bots.database.store import Store
from uniun_bots.graph import index_file, vector_index
from uniun_bots.graph import vectors as room
from uniun_bots.graph.embeddings import progress, put, queue, register
from uniun_bots.graph.index_rows import newest
from uniun_bots.graph.keep import mark_deleted
from uniun_bots.graph.scope import Scope, few_of
from uniun_bots.graph.vector_index import VectorIndex
from uniun_bots.graph.vectors import Vectors
from uniun_bots.inference.embed.embedder import EmbedderInfo
from uniun_bots.inference.embed.scripted import ScriptedEmbedder

WIDTH = 32
COUNT = 3_000
FOLDER = "vectors"


@pytest.fixture
def embedder() -> ScriptedEmbedder:
    return ScriptedEmbedder(width=WIDTH)


@pytest.fixture
async def crowd(store: Store, embedder: ScriptedEmbedder) -> AsyncIterator[tuple[Vectors, list[bytes]]]:
    """COUNT notes with vectors in heaps; author `n` wrote every n-th one."""
    made = clustered(COUNT, WIDTH)
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
    vectors = vectors_over(store, embedder)
    await vectors.registered()
    yield vectors, made
    await vectors.aclose()


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


@pytest.mark.parametrize("scope", SCOPES.values(), ids=SCOPES)
@pytest.mark.parametrize("way", ["one by one", "by the graph", "read first"])
async def test_a_search_in_a_scope_returns_the_true_best_of_it(
    store: Store,
    crowd: tuple[Vectors, list[bytes]],
    scope: Scope,
    way: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    vectors, made = crowd
    if way != "one by one":
        monkeypatch.setattr(vector_index, "EXACT_UP_TO", 0)
        monkeypatch.setattr(vector_index, "PART", 1_500)
    few = await store.read(lambda tx: few_of(tx, scope, COUNT)) if way == "read first" else None
    monkeypatch.setattr(room, "MOST_SCANNED", 100)
    questions = random.Random(3).sample(made, 12)
    found = [[one.seq for one in await vectors.nearest(asked, scope, 10, few)] for asked in questions]
    true = [await store.read(lambda tx, v=asked: true_nearest(tx, v, scope, 10)) for asked in questions]  # type: ignore[misc]
    assert [len(one) for one in found] == [len(one) for one in true]
    assert sum(map(recall, found, true)) / len(questions) >= 0.99


async def test_what_went_since_a_small_scope_was_read_takes_no_place(
    store: Store, crowd: tuple[Vectors, list[bytes]]
) -> None:
    vectors, made = crowd
    scope = SCOPES["1 %"]
    few = await store.read(lambda tx: few_of(tx, scope, COUNT))
    first = [one.seq for one in await vectors.nearest(made[1], scope, 5, few)]
    hide = "UPDATE notes SET audience = 'dm:one' WHERE seq = ?"
    await store.write(lambda tx: tx.executemany(hide, [(seq,) for seq in first[:4]]))
    found = [one.seq for one in await vectors.nearest(made[1], scope, 5, few)]
    assert found == await store.read(lambda tx: true_nearest(tx, made[1], scope, 5))


async def test_a_large_scope_far_from_the_question_is_scanned_whole(
    store: Store, crowd: tuple[Vectors, list[bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    vectors, made = crowd
    monkeypatch.setattr(room, "MOST_SCANNED", 20)
    monkeypatch.setattr(room, "MOST_FETCHED", 50)
    monkeypatch.setattr(room, "WINDOW", 700)
    scope = SCOPES["10 %"]
    found = [one.seq for one in await vectors.nearest(made[5], scope, 10)]
    assert found == await store.read(lambda tx: true_nearest(tx, made[5], scope, 10))


# the index follows the table ---------------------------------------------------------------------------


async def seqs(vectors: Vectors, question: str, limit: int = 3) -> list[int]:
    return [one.seq for one in await vectors.near(question, EVERYTHING, limit)]


async def test_a_note_that_is_embedded_later_is_found(store: Store, embedder: ScriptedEmbedder) -> None:
    vectors = vectors_over(store, embedder)
    await keep_texts(store, "first tide")
    await embed_all(store, embedder)
    assert await seqs(vectors, "tide") == [1]
    await keep_texts(store, "another moon", at=NOW + 50)
    await embed_all(store, embedder)
    assert await seqs(vectors, "another moon", 1) == [2]
    await vectors.aclose()


async def test_a_deleted_note_goes_out_of_the_index(store: Store, embedder: ScriptedEmbedder) -> None:
    vectors = vectors_over(store, embedder)
    gone, _ = await keep_texts(store, "a tide", "the moon")
    await embed_all(store, embedder)
    assert sorted(await seqs(vectors, "tide")) == [1, 2]
    await store.write(lambda tx: mark_deleted(tx, gone.id))
    assert await seqs(vectors, "tide") == [2]
    index = await vectors.follow()
    assert isinstance(index, VectorIndex)
    assert index.seqs().tolist() == [2]
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
    await embed_all(store, embedder)
    (nearest,) = await vectors.near("rye loaf", EVERYTHING, 1)
    assert (nearest.seq, round(nearest.distance, 3)) == (1, 0.0)
    before = {one.seq: one.distance for one in await vectors.near("a tide", EVERYTHING, 3)}
    assert before[1] > 0.5
    await vectors.aclose()


# the file ----------------------------------------------------------------------------------------------


async def saved(store: Store, embedder: ScriptedEmbedder, *texts: str) -> Path:
    """Notes, their vectors, and an index file of them."""
    await keep_texts(store, *(texts or ("a tide", "the moon", "some bread")))
    await embed_all(store, embedder)
    vectors = vectors_over(store, embedder)
    await vectors.registered()
    await vectors.follow()
    await vectors.save(1)
    await vectors.aclose()
    return store.path.parent / FOLDER


def index_bytes(folder: Path) -> Path:
    (file,) = folder.glob("*.usearch")
    return file


async def loaded(store: Store, embedder: ScriptedEmbedder) -> bool:
    """Whether the file can be used as it is."""
    info = await embedder.load()
    known = await store.write(lambda tx: register(tx, info))
    last = await store.read(newest)
    return await asyncio.to_thread(
        lambda: index_file.load(store.path.parent / FOLDER, known, last) is not None
    )


async def test_a_saved_index_is_used_again(store: Store, embedder: ScriptedEmbedder) -> None:
    await saved(store, embedder)
    assert await loaded(store, embedder)


async def test_an_index_of_several_parts_is_saved_and_read_again_and_a_part_may_empty(
    store: Store, embedder: ScriptedEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vector_index, "PART", 1)
    vectors = vectors_over(store, embedder)
    notes = []
    for place, text in enumerate(("a tide", "the moon", "some bread")):
        notes += await keep_texts(store, text, at=NOW + place)
        await embed_all(store, embedder)
        assert await seqs(vectors, text, 1) == [place + 1]
    await vectors.save(1)
    await vectors.aclose()
    assert len(list(vectors.folder.glob("*.usearch"))) == 3
    assert await loaded(store, embedder)
    await store.write(lambda tx: mark_deleted(tx, notes[1].id))
    again = vectors_over(store, embedder)
    assert sorted(await seqs(again, "the moon", 9)) == [1, 3]
    await again.save(1)
    await again.aclose()
    assert len(list(again.folder.glob("*.usearch"))) == 2


def empty(folder: Path) -> None:
    index_bytes(folder).write_bytes(b"")


def flip(folder: Path) -> None:
    file = index_bytes(folder)
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)


def halve(folder: Path) -> None:
    file = index_bytes(folder)
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def spoil_note(folder: Path) -> None:
    (folder / index_file.NOTE).write_text('{"file": ')


DAMAGES: dict[str, Callable[[Path], None]] = {
    "a flipped byte": flip,
    "half of it": halve,
    "no file": lambda folder: index_bytes(folder).unlink(),
    "an empty file": empty,
    "a half-written note": spoil_note,
    "no note": lambda folder: (folder / index_file.NOTE).unlink(),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
async def test_after_any_damage_to_the_index_the_graph_reads_the_same(
    store: Store, embedder: ScriptedEmbedder, damage: Callable[[Path], None]
) -> None:
    folder = await saved(store, embedder)
    damage(folder)
    assert not await loaded(store, embedder)
    vectors = vectors_over(store, embedder)
    assert await seqs(vectors, "moon", 1) == [2]
    await vectors.save(1)
    await vectors.aclose()
    assert await loaded(store, embedder)
    assert len(list(folder.glob("*.usearch"))) == 1


async def test_an_index_of_another_embedder_of_equal_width_is_not_used(
    store: Store, embedder: ScriptedEmbedder
) -> None:
    """E08, and its quiet sister: the same width, the same name, other vectors."""
    await saved(store, embedder)
    other = ScriptedEmbedder(name="other", width=WIDTH)
    other_of_same_name = ScriptedEmbedder(name="other", width=WIDTH)
    assert not await loaded(store, other)
    other.name = other_of_same_name.name = "scripted"
    vector = other._vector

    async def load() -> EmbedderInfo:
        return EmbedderInfo("scripted", WIDTH, vector("quite another text") or b"")

    other.load = load  # type: ignore[method-assign]
    assert not await loaded(store, other)


async def test_an_index_of_another_width_is_not_used(store: Store, embedder: ScriptedEmbedder) -> None:
    """E08: usearch itself would take it and then refuse every vector."""
    await saved(store, embedder)
    wider = ScriptedEmbedder(width=2 * WIDTH)
    assert not await loaded(store, wider)
    vectors = vectors_over(store, wider)
    assert await seqs(vectors, "moon") == []
    await embed_all(store, wider)
    assert (await seqs(vectors, "moon"))[0] == 2
    await vectors.aclose()


async def test_an_index_that_knows_more_than_a_restored_store_is_not_used(
    store: Store, embedder: ScriptedEmbedder
) -> None:
    folder = await saved(store, embedder)
    beside = json.loads((folder / index_file.NOTE).read_text())
    (folder / index_file.NOTE).write_text(json.dumps(beside | {"change": beside["change"] + 1}))
    assert not await loaded(store, embedder)


async def test_rows_that_vanished_without_a_word_make_the_index_anew(
    store: Store, embedder: ScriptedEmbedder
) -> None:
    await saved(store, embedder)

    def vanish(tx: sqlite3.Connection) -> None:
        tx.execute("DELETE FROM embeddings WHERE seq = 2")
        tx.execute("DELETE FROM embeddings_gone")

    await store.write(vanish)
    vectors = vectors_over(store, embedder)
    assert 2 not in await seqs(vectors, "moon")
    await vectors.aclose()


async def test_an_index_that_cannot_be_written_leaves_the_one_before(
    store: Store, embedder: ScriptedEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = await saved(store, embedder)
    await keep_texts(store, "one more", at=NOW + 99)
    await embed_all(store, embedder)
    vectors = vectors_over(store, embedder)
    await vectors.registered()
    index = await vectors.follow()
    assert isinstance(index, VectorIndex)

    class Full:
        def save(self, path: str) -> None:
            Path(path).write_bytes(b"half")
            raise RuntimeError("No space left on device")

        def __len__(self) -> int:
            return 4

    whole = index.parts
    index.parts = [Full()]
    with pytest.raises(OSError, match="No space left"):
        await vectors.save(1)
    index.parts = whole
    assert await loaded(store, embedder)
    assert len(list(folder.glob("*.usearch"))) == 1
    await vectors.aclose()


KILLED = """
    import asyncio, os, signal, sys
    from pathlib import Path
    from tests.graph.library import embed_all, keep_texts, vectors_over
    from uniun_bots.database.store import Store
    from uniun_bots.graph import index_file
    from uniun_bots.inference.embed.scripted import ScriptedEmbedder

    async def main(path, step):
        embedder = ScriptedEmbedder(width=32)
        async with Store(Path(path)) as store:
            await keep_texts(store, "one more note", at=1_750_000_999)
            await embed_all(store, embedder)
            vectors = vectors_over(store, embedder)
            await vectors.registered()
            await vectors.follow()
            to_disk, steps = index_file._to_disk, 0
            def dying(file):
                nonlocal steps
                steps += 1
                if steps == step:
                    os.kill(os.getpid(), signal.SIGKILL)
                to_disk(file)
            index_file._to_disk = dying
            await vectors.save(1)

    asyncio.run(main(sys.argv[1], int(sys.argv[2])))
"""


def killed_at(path: Path, step: int) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-c", textwrap.dedent(KILLED), str(path), str(step)]
    return subprocess.run(command, check=False)


@pytest.mark.force
@pytest.mark.parametrize("step", [1, 2])
async def test_kill_9_while_an_index_is_written_leaves_a_graph_that_reads_the_same(
    tmp_path: Path, embedder: ScriptedEmbedder, step: int
) -> None:
    path = tmp_path / "data" / "graph.sqlite"
    async with Store(path) as store:
        await saved(store, embedder)
    done = await asyncio.to_thread(killed_at, path, step)
    assert done.returncode == -signal.SIGKILL
    async with Store(path) as store:
        vectors = vectors_over(store, embedder)
        assert await seqs(vectors, "one more note", 1) == [4]
        assert sorted(await seqs(vectors, "moon", 9)) == [1, 2, 3, 4]
        await vectors.save(1)
        await vectors.aclose()
        assert await loaded(store, embedder)
    assert len(list((path.parent / FOLDER).glob("*.usearch"))) == 1


# another embedder --------------------------------------------------------------------------------------


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


async def test_a_vector_of_another_width_is_never_held_against_the_index(
    store: Store, crowd: tuple[Vectors, list[bytes]]
) -> None:
    vectors, _ = crowd
    assert await vectors.nearest(bytes([1] * (WIDTH + 1)), EVERYTHING, 3) == []
    index = await vectors.follow()
    assert index is not None
    with pytest.raises(ValueError, match=f"width {WIDTH}"):
        index.nearest(bytes([1] * (WIDTH + 1)), 3)


async def test_while_the_index_is_made_anew_small_scopes_are_searched_all_the_same(
    store: Store, crowd: tuple[Vectors, list[bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    vectors, made = crowd
    vectors._patience_s = 0.01
    held = asyncio.Event()

    async def forever() -> None:
        await held.wait()

    monkeypatch.setattr(vectors, "follow", forever)
    scope = SCOPES["10 notes"]
    found = [one.seq for one in await vectors.nearest(made[0], scope, 5)]
    assert found == await store.read(lambda tx: true_nearest(tx, made[0], scope, 5))
    held.set()

"""doctor tells what disagrees and makes it anew; the notes stay as they are."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tests.graph.library import EVERYTHING, embed_all, keep_texts, vectors_over
from tests.host.stage import Stage
from tests.stores import store as store
from uniun_bots.cli.main import main
from uniun_bots.database.store import Store
from uniun_bots.graph.keep import mark_deleted
from uniun_bots.graph.search import search
from uniun_bots.host.doctor import Told, examine
from uniun_bots.inference.embed.scripted import ScriptedEmbedder

DAMAGES = {
    "a note without its words": (
        "INSERT INTO notes_text (notes_text, rowid, words) VALUES ('delete', 1, 'a tide')",
    ),
    "all words gone": ("INSERT INTO notes_text (notes_text) VALUES ('delete-all')",),
    "words of no note": ("INSERT INTO notes_text (rowid, words) VALUES (999, 'nobody wrote this')",),
    "a vector of no note": ("INSERT INTO embeddings (embedder, seq, vector) VALUES (1, 999, x'0102')",),
    "a vector of no embedder": ("INSERT INTO embeddings (embedder, seq, vector) VALUES (7, 1, x'0102')",),
    "a vector of another width": ("UPDATE embeddings SET vector = x'0102' WHERE seq = 1",),
    "a vector that vanished": ("DELETE FROM embeddings WHERE seq = 2",),
    "edges of no note": ("INSERT INTO edges VALUES (999, 'reply', 'x')",),
    "a surface of no note": ("INSERT INTO surfaces VALUES ('group:x', 999)",),
}


@pytest.fixture
async def graph(store: Store) -> Store:
    """Three notes with words and vectors."""
    await keep_texts(store, "a tide", "the moon", "some bread")
    await embed_all(store, ScriptedEmbedder())
    return store


async def wrong(store: Store, *, fix: bool = False) -> list[Told]:
    return [one for one in await examine(store, fix=fix) if one.wrong]


async def found(store: Store, question: str) -> list[str]:
    vectors = vectors_over(store)
    hits = await search(store, vectors, question, EVERYTHING, 1)
    await vectors.aclose()
    return [hit.note.text for hit in hits]


async def test_a_sound_graph_has_nothing_wrong(graph: Store) -> None:
    assert await wrong(graph) == []
    (gone, *_) = await keep_texts(graph, "one more, and deleted", at=1_750_000_500)
    await graph.write(lambda tx: mark_deleted(tx, gone.id))
    assert await wrong(graph) == []


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
async def test_what_disagrees_is_told_and_made_anew(graph: Store, damage: tuple[str, ...]) -> None:
    for sql in damage:
        await graph.write(lambda tx, sql=sql: tx.execute(sql))  # type: ignore[misc]
    (told,) = await wrong(graph)
    assert not told.mended
    (mended,) = await wrong(graph, fix=True)
    assert (mended.wrong, mended.mended) == (told.wrong, True)
    assert await wrong(graph) == []
    await embed_all(graph, ScriptedEmbedder())
    for text in ("a tide", "the moon", "some bread"):
        assert await found(graph, text) == [text]


def run(where: Path, *given: str) -> Result:
    return CliRunner().invoke(main, ["doctor", *given, "--dir", str(where)])


async def test_the_command_says_no_until_it_has_mended(stage: Stage) -> None:
    stage.persona(mode="off")
    async with stage.host() as host:
        await keep_texts(host.store, "a tide")
        await host.store.write(lambda tx: tx.execute("INSERT INTO edges VALUES (999, 'reply', 'x')"))
        asked = await asyncio.to_thread(run, stage.folder, "--json")
        assert (asked.exit_code, json.loads(asked.stdout)["ok"]) == (1, False)
    assert "WRONG" in (alone := await asyncio.to_thread(run, stage.folder)).stdout
    assert alone.exit_code == 1
    mended = await asyncio.to_thread(run, stage.folder, "--fix")
    assert (mended.exit_code, "mended  rows of notes: 1 rows of edges have no note" in mended.stdout) == (
        0,
        True,
    )
    assert (await asyncio.to_thread(run, stage.folder)).exit_code == 0
    (stage.folder / "new" / "personas").mkdir(parents=True)
    assert "nothing has run here" in (await asyncio.to_thread(run, stage.folder / "new")).stderr

"""Search as people meet it: any language, any scope, with and without an embedder."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from tests.factory import ALICE, BOB, NOW, event, heard
from tests.graph.library import EVERYTHING, embed_all, keep_texts, near, vectors_over
from tests.stores import store as store
from uniun_bots.database.store import Store
from uniun_bots.graph import search as room
from uniun_bots.graph.by_words import by_words
from uniun_bots.graph.keep import keep, mark_deleted
from uniun_bots.graph.scope import Scope
from uniun_bots.graph.search import fuse, search
from uniun_bots.inference.embed.embedder import EmbedderInfo
from uniun_bots.inference.embed.scripted import ScriptedEmbedder

SEA = {"vessel": "ship", "boat": "ship", "moon": "tide"}


async def texts(store: Store, question: str, scope: Scope = EVERYTHING, limit: int = 5) -> list[str]:
    return [hit.note.text for hit in await search(store, None, question, scope, limit)]


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("我喜欢历史和地理", "历史"),
        ("昨日東京へ行きました", "東京"),
        ("ฉันชอบกินข้าวมาก", "ข้าว"),
        ("Паром отходит утром", "паром"),
        ("العبارة تغادر صباحا", "العبارة"),
        ("우리는 바다에 갔다", "바다"),
        ("हिन्दी में लिखा नोट", "हिन्दी"),
        ("🌊tide🌊 tables", "tide"),
        ("Überfahrt nach Föhr", "fohr"),
        ("喝一口水", "水"),
        ("水が好き", "水"),
        ("饮水机坏了", "水"),
        ("Παρασκευή βράδυ", "ΠΑΡΑΣΚΕΥΉ"),
        ("Die Straße am Hafen", "STRASSE"),
        ("ꦲꦏ꧀ꦱꦫꦗꦮ", "ꦗꦮ"),
        ("ꆈꌠꁱꂷ", "ꁱꂷ"),
        ("ㄋㄧㄏㄠㄇㄚ", "ㄏㄠ"),
        ("ｾﾙﾌｶﾞｿﾘﾝｽﾀﾝﾄﾞ", "スタンド"),
        ("כָּתַבְתִּי שָׁלוֹם", "שלום"),
    ],
)
async def test_a_text_in_any_script_is_found_by_its_own_words(store: Store, text: str, question: str) -> None:
    await keep_texts(store, text, "something else entirely", "别的东西")
    assert await texts(store, question) == [text]


@pytest.mark.parametrize(
    "question",
    [
        'tide" OR "x',
        "tide AND",
        "NEAR(tide",
        "words:tide",
        "-tide",
        "tide*",
        '"',
        "^tide",
        "(((tide",
        "\x00tide\ud800",
    ],
)
async def test_a_question_is_never_syntax(store: Store, question: str) -> None:
    await keep_texts(store, "the tide is high")
    assert await texts(store, question) in (["the tide is high"], [])


@pytest.mark.parametrize("question", ["", "   ", "🌊", "?!", "\x00"])
async def test_a_question_without_words_finds_nothing(store: Store, question: str) -> None:
    await keep_texts(store, "the tide is high")
    assert await texts(store, question) == []


async def test_the_note_with_the_rarer_word_comes_first(store: Store) -> None:
    await keep_texts(store, "the tide", "the harbour", "the boat", "the tide and the barnacle")
    assert (await texts(store, "the tide barnacle"))[0] == "the tide and the barnacle"


async def test_search_stays_in_its_scope(store: Store) -> None:
    await keep_texts(store, "tide by alice", author=ALICE)
    await keep_texts(store, "tide by bob", author=BOB)
    assert await texts(store, "tide", Scope(authors=(BOB,))) == ["tide by bob"]
    assert await texts(store, "tide", Scope(everything=True, by=(ALICE,))) == ["tide by alice"]
    assert await texts(store, "tide", Scope(everything=True, since=NOW + 1)) == []
    assert await texts(store, "tide", Scope()) == []


async def test_a_deleted_note_is_not_found(store: Store) -> None:
    gone, _ = await keep_texts(store, "tide one", "tide two")
    await store.write(lambda tx: mark_deleted(tx, gone.id))
    assert await texts(store, "tide") == ["tide two"]


async def test_a_small_scope_behind_many_better_notes_is_searched_whole(store: Store) -> None:
    await keep_texts(store, *("tide " * 5 + f"of day {n}" for n in range(600)), author=ALICE)
    await keep_texts(store, "a long and winding note in which tide stands once", author=BOB)
    assert await texts(store, "tide", Scope(authors=(BOB,)), 3) == [
        "a long and winding note in which tide stands once"
    ]


async def test_a_note_without_a_common_word_is_found_by_its_meaning(store: Store) -> None:
    await keep_texts(store, "the vessel left the harbour", "bread and butter", "a song of the moon")
    embedder = ScriptedEmbedder(synonyms=SEA)
    await embed_all(store, embedder)
    vectors = vectors_over(store, embedder)
    found = await search(store, vectors, "ship", EVERYTHING, 1)
    assert [hit.note.text for hit in found] == ["the vessel left the harbour"]
    await vectors.aclose()


async def test_what_is_found_by_words_and_by_meaning_comes_first(store: Store) -> None:
    await keep_texts(store, "ship of state and other phrases", "boat boat boat", "the ship and the boat")
    embedder = ScriptedEmbedder(synonyms=SEA)
    await embed_all(store, embedder)
    vectors = vectors_over(store, embedder)
    found = await search(store, vectors, "ship", EVERYTHING, 3)
    assert found[0].note.text == "the ship and the boat"
    assert [hit.score for hit in found] == sorted((hit.score for hit in found), reverse=True)
    await vectors.aclose()


async def test_without_any_vector_yet_words_do(store: Store) -> None:
    await keep_texts(store, "the tide is high")
    vectors = vectors_over(store)
    found = await search(store, vectors, "tide", EVERYTHING)
    assert [hit.note.text for hit in found] == ["the tide is high"]
    await vectors.aclose()


async def test_with_a_broken_embedder_words_do_and_the_fault_is_told(store: Store) -> None:
    await keep_texts(store, "the tide is high")
    embedder = ScriptedEmbedder()
    await embed_all(store, embedder)
    embedder.broken = "the worker is gone"
    vectors = vectors_over(store, embedder)
    found = await search(store, vectors, "tide", EVERYTHING)
    assert [hit.note.text for hit in found] == ["the tide is high"]
    assert vectors.status().fault == "the worker is gone"
    await vectors.aclose()


async def test_a_note_of_five_thousand_tags_is_found(store: Store) -> None:
    big = event("a tide of tags", *(["t", f"topic{n}"] for n in range(5_000)))
    await store.write(lambda tx: keep(tx, heard(big)))
    assert await texts(store, "tide of tags") == ["a tide of tags"]


def test_places_in_several_lists_add_up() -> None:
    assert [seq for seq, _ in fuse([1, 2, 3], [3, 4])] == [3, 1, 4, 2]
    assert fuse([], []) == []


async def test_words_are_looked_for_while_the_embedder_thinks(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    await keep_texts(store, "the vessel left the harbour", "bread and butter")
    embedder = ScriptedEmbedder(synonyms=SEA)
    await embed_all(store, embedder)
    loop, looked, embed = asyncio.get_running_loop(), asyncio.Event(), embedder.embed

    def looking(*given: Any) -> list[int]:
        loop.call_soon_threadsafe(looked.set)
        return by_words(*given)

    async def thinking(texts: Sequence[str], *, urgent: bool = False) -> list[bytes | None]:
        await looked.wait()
        return await embed(texts, urgent=urgent)

    monkeypatch.setattr(room, "by_words", looking)
    embedder.embed = thinking  # type: ignore[method-assign]
    vectors = vectors_over(store, embedder)
    found = await search(store, vectors, "ship", EVERYTHING, 1)
    assert [hit.note.text for hit in found] == ["the vessel left the harbour"]
    await vectors.aclose()


async def test_an_embedder_that_is_slow_to_start_costs_a_question_its_patience_and_no_more(
    store: Store,
) -> None:
    await keep_texts(store, "the tide is high")
    embedder = ScriptedEmbedder()
    await embed_all(store, embedder)
    opened, load = asyncio.Event(), embedder.load

    async def slow() -> EmbedderInfo:
        await opened.wait()
        return await load()

    embedder.load = slow  # type: ignore[method-assign]
    vectors = vectors_over(store, embedder, patience_s=0.05)
    assert [hit.note.text for hit in await search(store, vectors, "tide", EVERYTHING)] == ["the tide is high"]
    assert vectors.status().fault == "no vector within 0.05 s"
    opened.set()
    assert [one.seq for one in await near(vectors, "tide", limit=1)] == [1]
    await vectors.aclose()

"""Vectors in the background: notes get theirs, ingest is never slowed, and no fault stops anything for good."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from tests.host.stage import Stage, decided, rows_of, until
from uniun_bots.cli.status import searching
from uniun_bots.clock import monotonic
from uniun_bots.errors import EngineLost
from uniun_bots.graph.scope import Scope
from uniun_bots.host.control.ask import ask_host
from uniun_bots.host.host import Host
from uniun_bots.host.tending import embedding as room
from uniun_bots.host.tending.embedding import FLOOD, Embedding
from uniun_bots.inference.embed.scripted import ScriptedEmbedder
from uniun_bots.inference.embed.vector import pack

EVERYTHING = Scope(everything=True)


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "FIRST_REST_S", 0.0)
    monkeypatch.setattr(room, "RETRY_S", 0.05)


async def search_status(host: Host) -> dict[str, Any]:
    answer = await ask_host(host.project.data_dir, "GET", "/status")
    found: dict[str, Any] = answer["search"]
    return found


def embedded(host: Host, count: int) -> Callable[[], Awaitable[bool]]:
    async def enough() -> bool:
        rows = await rows_of(host, "SELECT count(*) AS n FROM embeddings WHERE vector IS NOT NULL")
        return bool(rows[0]["n"] >= count)

    return enough


async def test_what_is_heard_can_be_searched_by_its_meaning(stage: Stage) -> None:
    stage.persona()
    embedder = ScriptedEmbedder(synonyms={"vessel": "ship"})
    async with stage.host(embedder=embedder) as host:
        await decided(host, await stage.ask("The vessel leaves at nine."), await stage.ask("Bread is here."))
        await until(embedded(host, 3))
        (note,) = await host.house.search("ship", EVERYTHING, 1)
        assert note.text == "The vessel leaves at nine."
        status = await search_status(host)
        assert (status["embedder"], status["embedded"], status["waiting"]) == ("scripted", 3, 0)
        assert searching(status).startswith("search: scripted, 3 notes embedded, 0 wait (")


async def test_the_embedder_rests_while_notes_are_heard(stage: Stage) -> None:
    stage.persona(mode="off")
    async with stage.host(embedder=ScriptedEmbedder()) as host:
        hearing = True
        resting = Embedding(host.house, lambda: hearing)
        assert resting.is_resting
        hearing = False
        assert not resting.is_resting
        resting.look(FLOOD)
        assert resting.is_resting


async def test_a_flood_is_over_a_second_after_its_last_note(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage.persona(mode="off")
    async with stage.host(embedder=ScriptedEmbedder()) as host:
        flooded = Embedding(host.house, lambda: False)
        flooded.look(FLOOD)
        later = monotonic() + 1.1
        monkeypatch.setattr(room, "monotonic", lambda: later)
        assert not flooded.is_resting


async def test_a_restart_goes_on_with_what_has_no_vector_yet(stage: Stage) -> None:
    stage.persona()
    embedder = ScriptedEmbedder()
    embedder.gate.clear()
    async with stage.host(embedder=embedder) as host:
        await decided(host, await stage.ask("When is high water?"))
        assert (await search_status(host))["embedded"] == 0
    embedder.gate.set()
    async with stage.host(embedder=embedder) as host:
        await until(embedded(host, 2))
    calls = len(embedder.calls)
    async with stage.host(embedder=embedder) as host:
        assert await host.idle(10)
        await until(lambda: _state(host, "done"))
    assert len(embedder.calls) == calls


async def _state(host: Host, wanted: str) -> bool:
    return host.house.embedding.state == wanted


async def test_another_embedder_makes_all_vectors_anew_and_then_the_old_ones_go(stage: Stage) -> None:
    stage.persona()
    async with stage.host(embedder=ScriptedEmbedder("first")) as host:
        await decided(host, await stage.ask("When is high water?"))
        await until(embedded(host, 2))
    broken = ScriptedEmbedder("second")
    broken.broken = "no model"
    async with stage.host(embedder=broken) as host:
        await until(lambda: _state(host, "waiting for its embedder"))
        assert await embedded(host, 2)()
    async with stage.host(embedder=ScriptedEmbedder("second")) as host:
        await until(lambda: _state(host, "done"))
        assert await rows_of(host, "SELECT name FROM embedders") == [{"name": "second"}]
        assert len(await rows_of(host, "SELECT 1 FROM embeddings")) == 2


async def test_notes_wait_while_the_embedder_is_broken_and_status_says_why(stage: Stage) -> None:
    stage.persona()
    embedder = ScriptedEmbedder()
    embedder.broken = "the worker is gone"
    async with stage.host(embedder=embedder) as host:
        await decided(host, await stage.ask("When is high water?"))
        await until(lambda: _state(host, "waiting for its embedder"))
        status = await search_status(host)
        assert status["fault"] == "the worker is gone"
        assert searching(status).endswith("(waiting for its embedder); the worker is gone")
        (note,) = await host.house.search("high water", EVERYTHING, 1)
        assert note.text == "When is high water?"
        embedder.broken = ""
        await until(embedded(host, 2))


class Picky(ScriptedEmbedder):
    """Dies of one text, and finds no direction in another."""

    async def embed(self, texts: Any, *, urgent: bool = False) -> list[bytes | None]:
        if any("poison" in text for text in texts):
            raise EngineLost("the worker died of it")
        return [None if "nowhere" in text else pack([1.0, float(len(text))]) for text in texts]


async def test_a_note_that_breaks_the_embedder_is_passed_over_and_the_others_are_not(stage: Stage) -> None:
    stage.persona(mode="shadow")
    async with stage.host(embedder=Picky(width=2)) as host:
        await decided(
            host, await stage.ask("poison"), await stage.ask("points nowhere"), await stage.ask("an apple")
        )
        await until(lambda: _state(host, "done"))
        rows = await rows_of(
            host,
            "SELECT n.text, e.vector IS NULL AS refused FROM embeddings e JOIN notes n USING (seq)"
            " WHERE n.text IN ('poison', 'points nowhere', 'an apple')",
        )
        assert {row["text"]: row["refused"] for row in rows} == {
            "poison": 1,
            "points nowhere": 1,
            "an apple": 0,
        }
        status = await search_status(host)
        assert status["refused"] == 2
        assert searching(status).endswith(", 2 passed over")


async def test_without_an_embedder_nothing_is_embedded(stage: Stage) -> None:
    stage.persona()
    async with stage.host() as host:
        await decided(host, await stage.ask("When is high water?"))
        assert await search_status(host) == {"embedder": "none", "state": "off"}
        assert searching(await search_status(host)) == "search: by words (`embedder: none`)"
        assert await rows_of(host, "SELECT 1 FROM embedders") == []

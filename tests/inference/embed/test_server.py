"""Embedding by a model server, against one that says what a test told it to."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import web

from tests.inference.openai.stand_in import MODEL, Said, StandIn, stand_in
from uniun_bots.errors import EngineLost, ServerRefused
from uniun_bots.inference.embed.server import FEWER_LETTERS, MOST_LETTERS, ServerEmbedder
from uniun_bots.inference.embed.vector import cosine, pack
from uniun_bots.inference.openai.server import ApiKey, Server

PATH = "/v1/embeddings"


def answer(*rows: list[Any], shuffled: bool = False) -> Said:
    data = [{"object": "embedding", "index": at, "embedding": row} for at, row in enumerate(rows)]
    return Said({"object": "list", "data": data[::-1] if shuffled else data})


async def by_length(request: web.Request) -> web.Response:
    """A vector for each text, from its length."""
    texts = json.loads(await request.text())["input"]
    return answer(*([1.0, float(len(text)), 0.5] for text in texts), shuffled=True).response()


@pytest.fixture
async def server() -> AsyncIterator[StandIn]:
    async with stand_in() as opened:
        opened.paths[PATH] = by_length
        yield opened


def embedder(server: StandIn, model: str | None = None, key: str = "") -> ServerEmbedder:
    return ServerEmbedder("big", Server(f"{server.url}/v1", ApiKey(key) if key else None, tries=1), model)


async def test_each_text_gets_the_vector_of_its_place(server: StandIn) -> None:
    asked = embedder(server, key="secret-key")
    short, long = await asked.embed(["a", "a much longer text"])
    assert short is not None
    assert long is not None
    assert cosine(short, pack([1.0, 1.0, 0.5])) > 0.99
    assert cosine(long, pack([1.0, 18.0, 0.5])) > 0.99
    assert (await asked.load()).width == 3
    assert server.asked[PATH][-1]["model"] == MODEL
    assert server.headers[-1]["Authorization"] == "Bearer secret-key"
    await asked.aclose()


async def test_a_vector_that_points_nowhere_is_none_and_the_others_stay(server: StandIn) -> None:
    asked = embedder(server, MODEL)
    await asked.load()
    server.paths[PATH] = answer([0.0, 0.0, 0.0], [1.0, 2.0, 3.0], [None, 1.0, 1.0])
    assert [vector is None for vector in await asked.embed(["a", "b", "c"])] == [True, False, True]
    await asked.aclose()


@pytest.mark.parametrize(
    "said",
    [
        answer([1.0]),
        Said({"data": [{"index": 7, "embedding": [1.0]}, {"index": 0, "embedding": [1.0]}]}),
        Said({"data": "none"}),
        Said({"hello": 1}),
        Said("<html>", kind="text/html"),
    ],
    ids=["too few", "wrong places", "no list", "no data", "a web page"],
)
async def test_what_are_no_vectors_is_told(server: StandIn, said: Said) -> None:
    asked = embedder(server, MODEL)
    await asked.load()
    server.paths[PATH] = said
    with pytest.raises(EngineLost):
        await asked.embed(["a", "b"])
    await asked.aclose()


async def test_another_width_than_before_is_refused_and_looked_at_anew(server: StandIn) -> None:
    asked = embedder(server, MODEL)
    await asked.load()
    server.paths[PATH] = answer([1.0, 2.0])
    with pytest.raises(EngineLost, match="width"):
        await asked.embed(["a"])
    assert (await asked.load()).width == 2
    await asked.aclose()


async def test_a_text_that_is_too_long_is_cut_and_cut_again(server: StandIn) -> None:
    async def narrow(request: web.Request) -> web.Response:
        texts = json.loads(await request.text())["input"]
        if any(len(text) > FEWER_LETTERS for text in texts):
            return Said({"error": "input is too long for the context size"}, 400).response()
        return answer(*([1.0, float(len(text)), 0.5] for text in texts)).response()

    server.paths[PATH] = narrow
    asked = embedder(server, MODEL)
    long, short = await asked.embed(["x" * 9_000, "y"])
    assert cosine(long or b"", pack([1.0, float(FEWER_LETTERS), 0.5])) > 0.99
    assert short is not None
    assert max(len(text) for body in server.asked[PATH] for text in body["input"]) == MOST_LETTERS
    await asked.aclose()


async def test_a_text_that_is_refused_in_every_length_is_none(server: StandIn) -> None:
    asked = embedder(server, MODEL)
    await asked.load()
    server.paths[PATH] = Said({"error": "no"}, 422)
    assert await asked.embed(["x"]) == [None]
    await asked.aclose()


async def test_a_refused_key_is_no_fault_of_a_text(server: StandIn) -> None:
    asked = embedder(server, MODEL)
    await asked.load()
    server.paths[PATH] = Said({"error": "bad key"}, 401)
    with pytest.raises(ServerRefused):
        await asked.embed(["x"])
    await asked.aclose()

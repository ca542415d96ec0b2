"""Against a real model server with the small bundled model: llama_cpp.server, which streams and takes schemas."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.inference.openai.serving import served
from tests.inference.openai.stand_in import ask
from uniun_bots.errors import EngineLost, ModelNotFound, PromptTooLong, ServerRefused
from uniun_bots.inference.openai.engine import OpenAiEngine
from uniun_bots.inference.openai.server import ApiKey, Server
from uniun_bots.personas.settings import JsonDialect

KEY = "sk-real"
CONTEXT = 512
ANSWER = json.dumps({"type": "object", "properties": {"at": {"const": "14:10"}}, "required": ["at"]})

pytestmark = [pytest.mark.model, pytest.mark.asyncio(loop_scope="module")]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def base_url() -> AsyncIterator[str]:
    async with served(CONTEXT, KEY) as url:
        yield url


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def engine(base_url: str) -> AsyncIterator[OpenAiEngine]:
    dialect = JsonDialect.JSON_OBJECT
    engine = OpenAiEngine(Server(base_url, ApiKey(KEY)), context_tokens=CONTEXT, dialect=dialect)
    yield engine
    await engine.aclose()


async def test_it_answers_in_pieces(engine: OpenAiEngine) -> None:
    assert (await engine.load()).model == "openai:smol"
    heard: list[str] = []
    completion = await engine.generate(ask("Say hello.", 24), heard.append)
    assert completion.text == "".join(heard)
    assert len([piece for piece in heard if piece]) > 1
    assert completion.finish in ("stop", "length")
    assert completion.evaluate_ms > 0 < completion.generate_ms
    assert (completion.evaluate_ms + completion.generate_ms) / 1000 == pytest.approx(completion.seconds)


async def test_a_schema_holds(engine: OpenAiEngine) -> None:
    completion = await engine.generate(ask("When is high water?", 64, json_schema=ANSWER))
    assert json.loads(completion.text) == {"at": "14:10"}


async def test_a_cut_answer_says_so_and_stop_strings_and_seeds_are_kept(engine: OpenAiEngine) -> None:
    assert (await engine.generate(ask("Count to a hundred.", 3, temperature=0.0))).finish == "length"
    first, again = [await engine.generate(ask("Tell a story.", 16, seed=7)) for _ in range(2)]
    assert first.text == again.text
    cut = await engine.generate(ask("Tell a story.", 16, seed=7, stop=(first.text[4:8],)))
    assert cut.text == first.text[: first.text.index(first.text[4:8])]


async def test_after_a_cancel_it_serves_again(engine: OpenAiEngine) -> None:
    begun = asyncio.Event()
    running = asyncio.create_task(engine.generate(ask("Tell a story.", 400), lambda piece: begun.set()))
    await begun.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    async with asyncio.timeout(30):
        assert (await engine.generate(ask("Say hello.", 4))).text


async def test_a_prompt_beyond_its_context_is_told_with_counts(engine: OpenAiEngine) -> None:
    request = ask("The tide comes in and the tide goes out again. " * 80)
    with pytest.raises(PromptTooLong) as told:
        await engine.generate(request)
    assert told.value.context_tokens == CONTEXT
    assert CONTEXT < told.value.prompt_tokens <= await engine.count(request.messages)


async def test_a_wrong_key_and_an_unknown_model_are_told(base_url: str) -> None:
    wrong = OpenAiEngine(Server(base_url, ApiKey("sk-wrong")))
    with pytest.raises(ServerRefused, match="refuses the API key"):
        await wrong.load()
    await wrong.aclose()
    other = OpenAiEngine(Server(base_url, ApiKey(KEY)), "qwen3-8b")
    with pytest.raises(ModelNotFound, match="it has `smol`"):
        await other.load()
    await other.aclose()


async def test_the_wrong_path_is_told(base_url: str) -> None:
    beside = OpenAiEngine(Server(base_url.removesuffix("/v1"), ApiKey(KEY)), "smol")
    with pytest.raises((ServerRefused, EngineLost), match="usually ends in /v1"):
        await beside.generate(ask())
    await beside.aclose()

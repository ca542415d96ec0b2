"""Counting tokens beside the model, in a process of its own."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.inference.llama.bundled import BUNDLED
from uniun_bots.errors import EngineLost, ModelNotFound, ModelUnusable
from uniun_bots.inference.job import Job
from uniun_bots.inference.llama.engine import LlamaEngine
from uniun_bots.inference.request import Message, Request
from uniun_bots.inference.scheduler import Scheduler

HELLO = (Message("user", "When is high water?"),)
OWN_CONTEXT = 8192
"""Of the bundled model."""

pytestmark = [pytest.mark.model, pytest.mark.asyncio(loop_scope="module")]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def engine() -> AsyncIterator[LlamaEngine]:
    engine = LlamaEngine(BUNDLED, context_tokens=100_000)
    yield engine
    await engine.aclose()


async def test_a_count_loads_no_model(engine: LlamaEngine) -> None:
    info = await engine.info()
    assert (info.model, info.context_tokens, info.slots) == (BUNDLED, OWN_CONTEXT, 1)
    assert await engine.count(HELLO) > 5
    assert (engine.starts, engine.worker_pid) == (0, None)


async def test_a_count_survives_the_death_of_who_counts(engine: LlamaEngine) -> None:
    before, pid = await engine.count(HELLO), engine.counter.pid
    os.kill(pid or 0, signal.SIGKILL)
    assert await engine.count(HELLO) == before
    assert engine.counter.pid != pid


async def test_many_counts_at_once_share_one_process(engine: LlamaEngine) -> None:
    await engine.counter.forget()
    counts = await asyncio.gather(*(engine.count(HELLO * n) for n in range(1, 9)))
    assert counts == sorted(set(counts))


async def test_two_models_are_never_in_memory_at_once_and_both_can_count() -> None:
    small, big = (LlamaEngine(BUNDLED, context_tokens=tokens) for tokens in (256, 512))
    request = Request(HELLO, 2, 0.0)
    try:
        async with Scheduler({"small": small, "big": big}) as scheduler:
            await scheduler.submit(Job("tide", "small", request))
            assert (await big.info()).context_tokens == 512
            assert await big.count(HELLO) == await small.count(HELLO)
            assert (big.starts, big.worker_pid) == (0, None)
            starts = small.starts
            await scheduler.submit(Job("tide", "big", request))
            assert small.worker_pid is None
            assert await small.count(HELLO) > 5
            assert (small.starts, small.worker_pid) == (starts, None)
    finally:
        await small.aclose()
        await big.aclose()


async def test_a_model_that_is_not_there_is_told_without_starting_anything(tmp_path: Path) -> None:
    engine = LlamaEngine("path:none.gguf", base=tmp_path)
    with pytest.raises(ModelNotFound):
        await engine.info()
    (tmp_path / "none.gguf").write_bytes(b"GGUF" + bytes(200))
    with pytest.raises(ModelUnusable):
        await engine.count(HELLO)
    await engine.aclose()


async def test_a_closed_engine_counts_nothing_and_leaves_no_process() -> None:
    engine = LlamaEngine(BUNDLED)
    await engine.count(HELLO)
    assert (pid := engine.counter.pid) is not None
    counting = asyncio.create_task(engine.count(HELLO * 2))
    await asyncio.sleep(0)
    await engine.aclose()
    with pytest.raises(EngineLost, match="closed"):
        await counting
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)

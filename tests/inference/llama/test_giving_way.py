"""What a request that gave way costs when it comes back, with the bundled model."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.inference.llama.bundled import BUNDLED, TIDE, Listener, Writing, chat, give_way, long
from uniun_bots.errors import EngineLost
from uniun_bots.inference.llama.engine import LlamaEngine
from uniun_bots.inference.llama.live_sequence import SLICE_TOKENS
from uniun_bots.inference.request import Message, Request

TOKEN_BYTES = 30 * 3 * 64 * 2 * 2
"""Of state for each token: layers, heads, width, keys and values, 16 bit."""
EMOJI = json.dumps({"const": "tide 🌊🙂 Größe and out it goes again"})

pytestmark = [pytest.mark.model, pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(180)]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def engine() -> AsyncIterator[LlamaEngine]:
    engine = LlamaEngine(BUNDLED, context_tokens=2048, backoff_s=0.01)
    yield engine
    await engine.aclose()


@asynccontextmanager
async def fresh() -> AsyncIterator[LlamaEngine]:
    engine = LlamaEngine(BUNDLED, context_tokens=512)
    try:
        yield engine
    finally:
        await engine.aclose()


@pytest_asyncio.fixture(loop_scope="module")
async def narrow() -> AsyncIterator[LlamaEngine]:
    """Has room for two states of 110 tokens."""
    engine = LlamaEngine(BUNDLED, context_tokens=512, state_bytes=2 * 150 * TOKEN_BYTES)
    yield engine
    await engine.aclose()


async def test_a_prompt_that_gave_way_is_read_on_from_its_last_slice(engine: LlamaEngine) -> None:
    request = long("Ebb", 400, 1)
    first = await give_way(engine, request, Listener(enough=4))
    completion = await engine.generate(request)
    assert first >= 3 * SLICE_TOKENS
    assert completion.reused_tokens >= 3 * SLICE_TOKENS
    assert completion.reused_tokens + completion.evaluated_tokens == completion.prompt_tokens
    assert first + completion.evaluated_tokens <= completion.prompt_tokens * 1.05 + SLICE_TOKENS


async def test_an_answer_that_gave_way_costs_one_token_of_its_prompt(engine: LlamaEngine) -> None:
    request = long("Flood", 140, 24)
    await give_way(engine, request, Writing(enough=4))
    assert (await engine.generate(request)).evaluated_tokens == 1


async def test_a_request_that_gives_way_again_and_again_gets_on(engine: LlamaEngine) -> None:
    request = long("Spring", 400, 1)
    spent = 0
    for _ in range(4):
        spent += await give_way(engine, request, Listener(enough=2))
    completion = await engine.generate(request)
    assert spent + completion.evaluated_tokens <= completion.prompt_tokens + 4 * SLICE_TOKENS


@pytest.mark.parametrize(
    ("heard", "more"),
    [
        (Listener, {"max_tokens": 16, "temperature": 1.0, "seed": 7}),
        (Writing, {"max_tokens": 16, "temperature": 1.0, "seed": 7}),
        (Writing, {"max_tokens": 16, "temperature": 0.0, "stop": (" again",)}),
        (Writing, {"max_tokens": 40, "temperature": 1.0, "seed": 3, "json_schema": EMOJI}),
    ],
    ids=["seed, while it read", "seed, while it wrote", "stop", "schema and emoji"],
)
async def test_nobody_sees_in_an_answer_that_it_gave_way(heard: type[Listener], more: dict[str, Any]) -> None:
    request = long("Neap", 110, **more)
    async with fresh() as undisturbed:
        expected = await undisturbed.generate(request)
    async with fresh() as engine:
        await give_way(engine, request, heard(enough=2))
        listener = Listener()
        completion = await engine.generate(request, listener)
    assert completion.reused_tokens >= SLICE_TOKENS
    assert (completion.text, completion.finish) == (expected.text, expected.finish)
    assert "".join(listener.pieces) == completion.text


async def test_a_session_with_chats_between_its_rounds_reads_its_prompt_once(engine: LlamaEngine) -> None:
    messages = [Message("system", "Rounds, be brief."), Message("user", TIDE * 18)]
    spent = 0
    for n in range(4):
        completion = await engine.generate(Request(tuple(messages), 8, 0.0))
        spent += completion.evaluated_tokens
        assert (
            completion.reuse_ms + completion.evaluate_ms + completion.generate_ms <= completion.seconds * 1000
        )
        messages += [Message("assistant", completion.text), Message("user", f"{n}: {TIDE * 12}")]
        await engine.generate(chat())
    assert completion.prompt_tokens > 600
    assert spent <= 1.1 * completion.prompt_tokens


async def test_the_least_recently_used_state_goes_when_bytes_run_out(narrow: LlamaEngine) -> None:
    first, second, third = (long(name, 90, 1) for name in ("First", "Second", "Third"))
    for request in (first, second, third, chat()):
        await narrow.generate(request)
    health = narrow.health()
    assert health.kept_states == 2
    assert 180 * TOKEN_BYTES < health.kept_bytes <= 300 * TOKEN_BYTES
    assert (await narrow.generate(third)).evaluated_tokens == 1
    assert (await narrow.generate(second)).evaluated_tokens == 1
    assert (await narrow.generate(first)).reused_tokens < SLICE_TOKENS


async def test_prompts_with_room_for_one_copy_take_turns_and_are_all_answered(narrow: LlamaEngine) -> None:
    first, second = (long(name, 150, 1) for name in ("First", "Second"))
    for request in (first, second):
        await narrow.generate(request)
    assert (await narrow.generate(first)).evaluated_tokens == 1
    assert (await narrow.generate(second)).reused_tokens < SLICE_TOKENS
    assert narrow.health().kept_states == 1


async def test_nothing_survives_the_worker(engine: LlamaEngine) -> None:
    request = long("Storm", 90, 1)
    await engine.generate(request)
    await engine.generate(chat())
    assert (pid := engine.worker_pid) is not None
    assert engine.health().kept_bytes > 0
    os.kill(pid, signal.SIGKILL)
    with pytest.raises(EngineLost):
        await engine.generate(request)
    completion = await engine.generate(request)
    assert completion.reused_tokens == 0
    assert completion.evaluated_tokens == completion.prompt_tokens


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="reads /proc")
async def test_memory_stays_flat_while_thirty_requests_give_way(narrow: LlamaEngine) -> None:
    resident = []
    for n in range(30):
        await give_way(narrow, long(f"Wave {n * 7}", 130, 1), Listener(enough=2))
        resident.append(resident_bytes(narrow))
    assert narrow.health().cancelled == 30
    assert max(resident[10:]) - max(resident[:10]) < 4 * 2**20


def resident_bytes(engine: LlamaEngine) -> int:
    pages = Path(f"/proc/{engine.worker_pid}/statm").read_text().split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")

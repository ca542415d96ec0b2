"""The embedded engine with the small bundled model: real tokens, real processes, real kills."""

from __future__ import annotations

import asyncio
import json
import os
import select
import signal
import subprocess
import sys
import textwrap
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.inference.gguf_file import gguf
from tests.inference.llama.bundled import BUNDLED, Listener, ask
from uniun_bots.clock import monotonic
from uniun_bots.errors import EngineLost, ModelUnusable, PromptTooLong, SchemaRefused
from uniun_bots.inference.llama.engine import LlamaEngine
from uniun_bots.inference.model_reference import find_model
from uniun_bots.inference.request import Message, Request

LONG = "The tide comes in and the tide goes out again. " * 136

pytestmark = [pytest.mark.model, pytest.mark.asyncio(loop_scope="module")]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def engine() -> AsyncIterator[LlamaEngine]:
    engine = LlamaEngine(BUNDLED, context_tokens=2048, backoff_s=0.01)
    await engine.load()
    yield engine
    await engine.aclose()


def only(text: str) -> str:
    """A schema whose one answer is this text."""
    return json.dumps({"const": text})


async def test_it_answers_and_counts_honestly(engine: LlamaEngine) -> None:
    info = await engine.load()
    assert (info.model, info.context_tokens, info.slots) == (BUNDLED, 2048, 1)
    request = ask("What is a tide?")
    for _ in range(2):
        listener = Listener()
        completion = await engine.generate(request, listener)
        assert completion.text
        assert "".join(listener.pieces) == completion.text
        assert completion.prompt_tokens == await engine.count(request.messages)
        assert completion.prompt_tokens == completion.reused_tokens + completion.evaluated_tokens
        assert 0 < completion.generated_tokens <= 12
        assert completion.seconds > 0
    assert completion.evaluated_tokens == 1


async def test_the_same_seed_says_the_same(engine: LlamaEngine) -> None:
    request = ask("What is a tide?", temperature=1.0, seed=7)
    await engine.generate(request)
    first, second = [(await engine.generate(request)).text for _ in range(2)]
    assert first == second


async def test_a_schema_is_kept_and_emoji_come_out_whole(engine: LlamaEngine) -> None:
    """B18."""
    listener = Listener()
    completion = await engine.generate(ask("x", 60, json_schema=only("tide 🌊🙂 Größe")), listener)
    assert json.loads(completion.text) == "tide 🌊🙂 Größe"
    assert "".join(listener.pieces) == completion.text
    assert completion.finish == "stop"


async def test_a_stop_string_ends_the_answer(engine: LlamaEngine) -> None:
    completion = await engine.generate(ask("x", 60, json_schema=only("one two three"), stop=("two",)))
    assert (completion.text, completion.finish) == ('"one ', "stop")


async def test_an_answer_without_room_is_cut_and_says_so(engine: LlamaEngine) -> None:
    completion = await engine.generate(ask("x", 2, json_schema=only("one two three four")))
    assert (completion.finish, completion.generated_tokens) == ("length", 2)


async def test_two_requests_at_once_both_get_their_own_answer(engine: LlamaEngine) -> None:
    """B24."""
    words = ["alpha", "beta"]
    answers = await asyncio.gather(*(engine.generate(ask(w, 30, json_schema=only(w))) for w in words))
    assert [json.loads(answer.text) for answer in answers] == words


async def test_counting_does_not_wait_for_a_running_request(engine: LlamaEngine) -> None:
    listener = Listener()
    running = asyncio.create_task(engine.generate(ask(LONG), listener))
    await listener.wait()
    assert await engine.count((Message("user", "hi"),)) > 5
    assert not running.done()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running


@pytest.mark.parametrize(
    "schema",
    ["not json", '{"type": "nonsense"}', '{"$ref": "#/nowhere"}', '{"anyOf": 3}', "[1]", '{"enum": []}'],
)
async def test_a_schema_that_cannot_be_compiled_is_told_and_the_worker_lives(
    engine: LlamaEngine, schema: str
) -> None:
    """B26."""
    await engine.load()
    pid = engine.worker_pid
    with pytest.raises(SchemaRefused, match="JSON schema"):
        await engine.generate(ask("x", json_schema=schema))
    assert (await engine.generate(ask("x", 20, json_schema=only("fine")))).text == '"fine"'
    assert engine.worker_pid == pid


async def test_a_prompt_that_does_not_fit_is_told_with_its_counts(engine: LlamaEngine) -> None:
    request = ask(LONG * 2, 100)
    with pytest.raises(PromptTooLong) as caught:
        await engine.generate(request)
    assert caught.value.prompt_tokens == await engine.count(request.messages) > 2048
    assert (caught.value.context_tokens, caught.value.answer_tokens) == (2048, 100)
    with pytest.raises(PromptTooLong):
        await engine.generate(ask("hi", 2048))


async def test_a_cancel_in_the_middle_of_the_prompt_stops_the_model_and_keeps_what_was_read(
    engine: LlamaEngine,
) -> None:
    request = ask(f"first words {LONG}", 1)
    assert await engine.count(request.messages) > 1400
    pid, listener = engine.worker_pid, Listener(enough=4)
    running = asyncio.create_task(engine.generate(request, listener))
    await listener.wait()
    started = monotonic()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert monotonic() - started < 1.0
    assert len(listener.pieces) < 20
    assert engine.worker_pid == pid
    short = Request((*request.messages[:1], Message("user", request.messages[1].content[:1000])), 1)
    assert (await engine.generate(short)).reused_tokens > 100


async def test_a_cancel_while_it_writes_stops_the_model(engine: LlamaEngine) -> None:
    pid, listener = engine.worker_pid, Listener(enough=8)
    running = asyncio.create_task(engine.generate(ask("Tell me all about tides.", 1500), listener))
    await listener.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert (await engine.generate(ask("x", 20, json_schema=only("fine")))).text == '"fine"'
    assert engine.worker_pid == pid


@pytest.mark.parametrize(
    ("number", "told"),
    [
        (signal.SIGKILL, "SIGKILL, which is what the system does when memory runs out"),
        (signal.SIGSEGV, "SIGSEGV"),
        (signal.SIGABRT, "SIGABRT"),
    ],
)
async def test_a_worker_that_dies_is_told_and_the_next_request_works(
    engine: LlamaEngine, number: signal.Signals, told: str
) -> None:
    """B24, B26."""
    deaths = engine.health().deaths
    listener = Listener()
    running = asyncio.create_task(engine.generate(ask(LONG), listener))
    await listener.wait()
    assert (pid := engine.worker_pid) is not None
    os.kill(pid, number)
    with pytest.raises(EngineLost, match=told) as lost:
        await running
    assert lost.value.signal == number
    health = engine.health()
    assert (health.deaths, health.kept_states) == (deaths + 1, 0)
    assert told in str(health.last_death)
    assert (await engine.generate(ask("x", 20, json_schema=only("back")))).text == '"back"'
    assert engine.worker_pid != pid


async def test_a_worker_that_hangs_is_killed_and_the_next_request_works(
    engine: LlamaEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    await engine.load()
    assert (pid := engine.worker_pid) is not None
    os.kill(pid, signal.SIGSTOP)
    with monkeypatch.context() as hasty:
        hasty.setattr(engine, "_stall_s", 0.2)
        with pytest.raises(EngineLost, match="no sign of life"):
            await engine.generate(ask("x"))
    assert (await engine.generate(ask("x", 20, json_schema=only("back")))).text == '"back"'
    assert engine.worker_pid != pid


async def test_a_worker_that_does_not_hear_a_cancel_is_killed(
    engine: LlamaEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "_cancel_s", 0.2)
    listener = Listener()
    running = asyncio.create_task(engine.generate(ask(LONG), listener))
    await listener.wait()
    assert (pid := engine.worker_pid) is not None
    os.kill(pid, signal.SIGSTOP)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert (await engine.generate(ask("x", 20, json_schema=only("back")))).text == '"back"'
    assert engine.worker_pid != pid


async def test_who_is_told_twice_to_stop_does_not_take_the_worker_along(engine: LlamaEngine) -> None:
    """Such as a job that gives way to a chat while its own caller goes away."""
    await engine.load()
    before, pid, listener = engine.health(), engine.worker_pid, Listener(enough=2)
    running = asyncio.create_task(engine.generate(ask(LONG), listener))
    await listener.wait()
    running.cancel()
    await asyncio.sleep(0)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    health = engine.health()
    assert (engine.worker_pid, health.deaths, health.cancelled) == (pid, before.deaths, before.cancelled + 1)


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="reads /proc")
async def test_the_worker_gets_no_secrets_by_its_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIFE_LESSONS_NSEC", "a secret")
    engine = LlamaEngine(BUNDLED, context_tokens=256)
    await engine.load()
    try:
        environment = await asyncio.to_thread(Path(f"/proc/{engine.worker_pid}/environ").read_bytes)
    finally:
        await engine.aclose()
    assert b"PATH=" in environment
    assert b"a secret" not in environment


async def test_closing_ends_a_running_request_and_refuses_the_next() -> None:
    engine = LlamaEngine(BUNDLED, context_tokens=2048)
    listener = Listener()
    running = asyncio.create_task(engine.generate(ask(LONG), listener))
    await listener.wait()
    await engine.aclose()
    with pytest.raises(EngineLost, match="closing"):
        await running
    with pytest.raises(EngineLost, match="closed"):
        await engine.generate(ask("x"))
    await engine.aclose()


async def test_a_truncated_model_is_told_and_may_be_replaced(tmp_path: Path) -> None:
    whole = find_model(BUNDLED, Path())
    cut = tmp_path / "cut.gguf"
    cut.write_bytes(whole.read_bytes()[: 20 * 2**20])
    engine = LlamaEngine("path:cut.gguf", base=tmp_path, context_tokens=256)
    with pytest.raises(ModelUnusable, match=r"cut\.gguf is truncated: it has 20,971,520 bytes of"):
        await engine.load()
    cut.unlink()
    cut.symlink_to(whole)
    assert (await engine.load()).context_tokens == 256
    await engine.aclose()


async def test_a_model_that_memory_cannot_hold_is_told_before_it_is_tried(tmp_path: Path) -> None:
    terabyte = 2**40
    model = tmp_path / "huge.gguf"
    model.write_bytes(gguf(shapes=((terabyte // 4,),), data=False))
    os.truncate(model, model.stat().st_size + terabyte)
    engine = LlamaEngine("path:huge.gguf", base=tmp_path)
    with pytest.raises(ModelUnusable, match=r"huge\.gguf is too big for memory: 1099\.5 GB for the model"):
        await engine.load()
    await engine.aclose()


SCRIPT = """
    import asyncio, sys
    from uniun_bots.inference.llama.engine import LlamaEngine

    async def main():
        engine = LlamaEngine({model!r}, context_tokens=256)
        await engine.load()
        print(engine.worker_pid, "llama_cpp" in sys.modules, "numpy" in sys.modules, flush=True)
        await asyncio.Event().wait()

    asyncio.run(main())
"""


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="waits for a process that is not its child")
async def test_the_worker_ends_with_its_host_and_the_host_never_loads_llama_cpp() -> None:
    script = textwrap.dedent(SCRIPT.format(model=BUNDLED))

    def run() -> tuple[str, bool]:
        with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as host:
            assert host.stdout is not None
            pid, *loaded = host.stdout.readline().split()
            worker = os.pidfd_open(int(pid))
            host.kill()
            try:
                ended = bool(select.select([worker], [], [], 20)[0])
            finally:
                os.close(worker)
        return " ".join(loaded), ended

    assert await asyncio.to_thread(run) == ("False False", True)

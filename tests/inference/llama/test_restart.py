"""When and how a worker is started again, without a real one."""

from __future__ import annotations

import asyncio
import signal
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from uniun_bots.cli.status import worker_deaths
from uniun_bots.clock import monotonic
from uniun_bots.errors import EngineLost, LoadFailed
from uniun_bots.inference.llama.engine import LlamaEngine
from uniun_bots.inference.llama.protocol import Counts, Done, Generate, Load, Loaded
from uniun_bots.inference.llama.worker_process import WorkerProcess
from uniun_bots.inference.request import Message, Request
from uniun_bots.inference.scheduler import Scheduler


@pytest.fixture
def engine(tmp_path: Path) -> LlamaEngine:
    (tmp_path / "m.gguf").write_bytes(b"GGUF" + bytes(60))
    return LlamaEngine("path:m.gguf", base=tmp_path, backoff_s=0.2)


def dying_of(number: int, monkeypatch: pytest.MonkeyPatch) -> list[Load]:
    loads: list[Load] = []

    async def start(load: Load, stall_s: float) -> None:
        loads.append(load)
        raise EngineLost("gone", number)

    monkeypatch.setattr(WorkerProcess, "start", start)
    return loads


async def test_an_illegal_instruction_leads_to_plain_weights_once(
    engine: LlamaEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    loads = dying_of(signal.SIGILL, monkeypatch)
    with pytest.raises(LoadFailed):
        await engine.load()
    assert [load.plain for load in loads] == [False, True]


async def test_a_worker_that_keeps_dying_is_started_less_and_less_often(
    engine: LlamaEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    loads = dying_of(signal.SIGKILL, monkeypatch)
    waited = []
    for _ in range(4):
        started = monotonic()
        with pytest.raises(LoadFailed):
            await engine.load()
        waited.append(monotonic() - started)
    assert [load.plain for load in loads] == [False] * 4
    assert waited[2] >= 0.19
    assert waited[3] >= 0.39


async def test_the_wait_for_a_restart_grows_up_to_half_a_minute(
    engine: LlamaEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    dying_of(signal.SIGKILL, monkeypatch)
    monkeypatch.setattr(engine, "_backoff_s", 20.0)
    for _ in range(5):
        engine._not_before = 0.0
        with pytest.raises(LoadFailed):
            await engine.load()
    assert 29 < engine.health().resting_s <= 30


class Answering:
    """A worker that answers at once, until it is told to be dead."""

    is_dead = False

    async def ask(self, asked: Generate, *_: object) -> Done:
        return Done(asked.id, "Yes.", "stop", Counts(), 0.0)

    async def wait(self) -> None:
        pass

    async def aclose(self, patience_s: float) -> None:
        pass

    def lost(self) -> EngineLost:
        return EngineLost("gone", signal.SIGKILL)


async def test_after_an_answer_the_next_restart_is_at_once_again(
    engine: LlamaEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    dying_of(signal.SIGKILL, monkeypatch)
    monkeypatch.setattr(engine, "_backoff_s", 0.001)
    for _ in range(2):
        with pytest.raises(LoadFailed):
            await engine.load()
    worker = Answering()

    async def start(load: Load, stall_s: float) -> tuple[Answering, Loaded]:
        return worker, Loaded(256)

    monkeypatch.setattr(WorkerProcess, "start", start)
    monkeypatch.setattr(engine, "_backoff_s", 3600.0)
    assert (await engine.generate(Request((Message("user", "Yes?"),), 4))).text == "Yes."
    worker.is_dead = True
    worker = Answering()
    async with asyncio.timeout(5):
        await engine.generate(Request((Message("user", "Yes?"),), 4))
    assert (engine.health().deaths, engine.health().resting_s) == (3, 0)
    await engine.aclose()


async def test_closing_does_not_wait_for_a_restart(
    engine: LlamaEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    loads = dying_of(signal.SIGKILL, monkeypatch)
    monkeypatch.setattr(engine, "_backoff_s", 3600.0)
    for _ in range(2):
        with pytest.raises(LoadFailed):
            await engine.load()
    waiting = asyncio.create_task(engine.load())
    await asyncio.sleep(0)
    await asyncio.wait_for(engine.aclose(), 5)
    with pytest.raises(EngineLost, match="closed"):
        await waiting
    assert len(loads) == 2


async def test_the_status_tells_why_the_worker_died_and_when_the_next_start_may_be(
    engine: LlamaEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    dying_of(signal.SIGSEGV, monkeypatch)
    monkeypatch.setattr(engine, "_backoff_s", 20.0)
    async with Scheduler({"default": engine}) as scheduler:
        assert worker_deaths(told(scheduler)) == ""
        with pytest.raises(LoadFailed):
            await engine.load()
        assert worker_deaths(told(scheduler)) == "its worker died once, so: gone"
        with pytest.raises(LoadFailed):
            await engine.load()
        health = told(scheduler)
    assert (health["starts"], health["deaths"], health["last_death"]) == (2, 2, "gone")
    assert 0 < health["resting_s"] <= 20
    assert worker_deaths(health).startswith(
        "its worker died 2 times, the last one so: gone; the next start waits"
    )


def told(scheduler: Scheduler) -> dict[str, Any]:
    [status] = scheduler.status()
    return asdict(status)["health"]  # type: ignore[no-any-return]

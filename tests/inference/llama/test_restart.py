"""When and how a worker is started again, without a real one."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path

import pytest

from uniun_bots.clock import monotonic
from uniun_bots.errors import EngineLost
from uniun_bots.inference.llama.engine import LlamaEngine
from uniun_bots.inference.llama.protocol import Load
from uniun_bots.inference.llama.worker_process import WorkerProcess


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
    with pytest.raises(EngineLost):
        await engine.load()
    assert [load.plain for load in loads] == [False, True]


async def test_a_worker_that_keeps_dying_is_started_less_and_less_often(
    engine: LlamaEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    loads = dying_of(signal.SIGKILL, monkeypatch)
    waited = []
    for _ in range(4):
        started = monotonic()
        with pytest.raises(EngineLost):
            await engine.load()
        waited.append(monotonic() - started)
    assert [load.plain for load in loads] == [False] * 4
    assert waited[2] >= 0.19
    assert waited[3] >= 0.39


async def test_closing_does_not_wait_for_a_restart(
    engine: LlamaEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    loads = dying_of(signal.SIGKILL, monkeypatch)
    monkeypatch.setattr(engine, "_backoff_s", 3600.0)
    for _ in range(2):
        with pytest.raises(EngineLost):
            await engine.load()
    waiting = asyncio.create_task(engine.load())
    await asyncio.sleep(0)
    await asyncio.wait_for(engine.aclose(), 5)
    with pytest.raises(EngineLost, match="closed"):
        await waiting
    assert len(loads) == 2

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from tests.inference.test_scheduler import Gated, job, settle, start
from uniun_bots.errors import JobOverdue
from uniun_bots.inference import allowance
from uniun_bots.inference.allowance import Allowance
from uniun_bots.inference.scheduler import Scheduler


class Time:
    seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


async def hang() -> None:
    await asyncio.Event().wait()


async def test_work_that_takes_too_long_is_stopped_and_told() -> None:
    with pytest.raises(JobOverdue, match="tide had the engine for 0.01 s"):
        await Allowance(0.01).spend(hang(), "tide")


async def test_what_one_job_took_the_next_one_has_not(monkeypatch: pytest.MonkeyPatch) -> None:
    steady = iter([0.0, 400.0, 400.0, 500.0])
    monkeypatch.setattr(allowance, "monotonic", lambda: next(steady))
    shared = Allowance(600)
    for left in (200, 100):
        await shared.spend(asyncio.sleep(0), "tide")
        assert shared.left_s == left


async def test_a_timeout_of_the_work_itself_is_its_own() -> None:
    async def fail() -> None:
        raise TimeoutError("its own")

    with pytest.raises(TimeoutError, match="its own"):
        await Allowance(60).spend(fail(), "tide")


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> Time:
    time = Time()
    monkeypatch.setattr(allowance, "monotonic", time)
    return time


async def test_standing_in_the_queue_costs_nothing_and_is_told(time: Time) -> None:
    engine, shared = Gated(), Allowance(600)
    async with Scheduler({"default": engine}, steady=time) as scheduler:
        first, second = start(scheduler, job("a"), replace(job("b"), allowance=shared))
        await engine.until_asked(1)
        time.seconds += 1000
        engine.open()
        await first
        await engine.until_asked(2)
        time.seconds += 50
        engine.open()
        answer = await second
    assert shared.left_s == 550
    # The scripted engine says that it took a second.
    assert answer.waiting_ms == 1_049_000


async def test_time_before_giving_way_counts(time: Time) -> None:
    engine, shared = Gated(), Allowance(600)
    async with Scheduler({"default": engine}, steady=time) as scheduler:
        [slow] = start(scheduler, replace(job("a"), allowance=shared))
        await engine.until_asked(1)
        time.seconds += 100
        async with scheduler.chat_turn():
            await settle()
            assert len(engine.cancelled) == 1
            time.seconds += 100
        slow.cancel()
        with pytest.raises(asyncio.CancelledError):
            await slow
    assert shared.left_s == 500

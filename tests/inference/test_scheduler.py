from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from uniun_bots.errors import EngineLost, JobOverdue, JobRefused, NotFound
from uniun_bots.inference.completion import Completion
from uniun_bots.inference.job import Job
from uniun_bots.inference.request import Message, Request
from uniun_bots.inference.scheduler import Scheduler
from uniun_bots.inference.scripted import Reply, ScriptedEngine


def job(text: str = "hi", gana: str = "one", engine: str = "default", deadline: float | None = None) -> Job:
    return Job(gana, engine, Request((Message("user", text),), max_tokens=16), deadline)


class ByHand:
    """A clock whose time comes when the test says so."""

    def __init__(self) -> None:
        self._come = asyncio.Event()

    def now(self) -> float:
        return 100.0

    async def sleep_until(self, when: float) -> None:
        await self._come.wait()

    def pass_by(self) -> None:
        self._come.set()


class Gated(ScriptedEngine):
    """Answers one request for every `open()`, with the request's own text."""

    def __init__(self, slots: int = 1) -> None:
        self.gate = asyncio.Semaphore(0)
        super().__init__(
            lambda request: Reply(request.messages[0].content, after_s=1), slots=slots, sleep=self._wait
        )

    async def _wait(self, seconds: float) -> None:
        await self.gate.acquire()

    def open(self, count: int = 1) -> None:
        for _ in range(count):
            self.gate.release()


def start(scheduler: Scheduler, *jobs: Job) -> list[asyncio.Task[Completion]]:
    return [asyncio.create_task(scheduler.submit(job)) for job in jobs]


async def settle(times: int = 20) -> None:
    """Let every task run until it waits."""
    for _ in range(times):
        await asyncio.sleep(0)


async def test_jobs_run_one_after_the_other_in_the_order_they_came() -> None:
    engine = Gated()
    async with Scheduler({"default": engine}) as scheduler:
        tasks = start(scheduler, *(job(str(n), gana=f"g{n}") for n in range(5)))
        await engine.until_asked(1)
        [status] = scheduler.status()
        assert (status.running, status.waiting) == (("g0",), ("g1", "g2", "g3", "g4"))
        engine.open(5)
        assert [completion.text for completion in await asyncio.gather(*tasks)] == list("01234")
        assert [request.messages[0].content for request in engine.requests] == list("01234")
        assert engine.most_running == 1
        [status] = scheduler.status()
        assert (status.running, status.waiting, status.done, status.failed) == ((), (), 5, 0)


async def test_an_engine_is_told_the_tier_of_each_request() -> None:
    """For model servers that order a queue of their own."""
    engine = ScriptedEngine(lambda request: "yes")
    async with Scheduler({"default": engine}) as scheduler:
        for asked in (
            job(),
            replace(job(), due=100.0),
            replace(job(), kind="extract"),
            replace(job(), foreground=True),
            replace(job(), kind="chat"),
        ):
            await scheduler.submit(asked)
    assert [request.tier for request in engine.requests] == [4, 3, 2, 1, 0]


async def test_whoever_submits_a_job_hears_its_answer_in_pieces() -> None:
    pieces: list[str] = []
    request = Request((Message("user", "?"),), max_tokens=8)
    async with Scheduler({"default": ScriptedEngine(["High water is at noon. "])}) as scheduler:
        completion = await scheduler.submit(
            Job("shiv", "default", request, kind="chat", on_piece=pieces.append)
        )
    assert pieces == ["High", " water", " is", " at", " noon.", " "]
    assert "".join(pieces) == completion.text


async def test_an_engine_with_slots_runs_that_many_at_once() -> None:
    engine = Gated(slots=3)
    async with Scheduler({"default": engine}) as scheduler:
        tasks = start(scheduler, *(job(str(n)) for n in range(7)))
        await engine.until_asked(3)
        await settle()
        assert engine.running == 3
        engine.open(7)
        await asyncio.gather(*tasks)
        assert engine.most_running == 3


async def test_engines_do_not_wait_for_each_other() -> None:
    slow, fast = Gated(), ScriptedEngine(["quick"])
    async with Scheduler({"slow": slow, "fast": fast}) as scheduler:
        [task] = start(scheduler, job(engine="slow"))
        assert (await scheduler.submit(job(engine="fast"))).text == "quick"
        assert not task.done()
        slow.open()
        await task


async def test_a_cancelled_caller_leaves_the_queue_and_stops_its_model() -> None:
    engine = Gated()
    async with Scheduler({"default": engine}) as scheduler:
        running, waiting, last = start(scheduler, job("a"), job("b"), job("c"))
        await engine.until_asked(1)
        for task in (waiting, running):
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        engine.open()
        assert (await last).text == "c"
        assert [request.messages[0].content for request in engine.cancelled] == ["a"]
        assert [request.messages[0].content for request in engine.requests] == ["a", "c"]


@pytest.mark.parametrize("hops", range(6))
async def test_a_slot_handed_to_a_caller_that_goes_away_in_the_same_moment_is_not_lost(hops: int) -> None:
    def later(left: int) -> None:
        if left:
            asyncio.get_running_loop().call_soon(later, left - 1)
        else:
            second.cancel()

    async def end(seconds: float) -> None:
        await gate.wait()
        later(hops)

    gate = asyncio.Event()
    engine = ScriptedEngine([Reply("a", after_s=1), "b", "c"], sleep=end)
    async with Scheduler({"default": engine}) as scheduler:
        first, second, third = start(scheduler, job(), job(), job())
        await engine.until_asked(1)
        gate.set()
        await asyncio.gather(first, second, return_exceptions=True)
        assert (await asyncio.wait_for(third, 5)).text in ("b", "c")


async def test_a_failing_job_does_not_stop_the_next() -> None:
    engine = ScriptedEngine([Reply("", error=EngineLost("gone")), "here"])
    async with Scheduler({"default": engine}) as scheduler:
        first, second = start(scheduler, job(), job())
        with pytest.raises(EngineLost):
            await first
        assert (await second).text == "here"
        assert scheduler.status()[0].failed == 1


async def test_a_job_past_its_deadline_ends_whether_it_waits_or_runs() -> None:
    clock, engine = ByHand(), Gated()
    async with Scheduler({"default": engine}, clock=clock) as scheduler:
        tasks = start(scheduler, job("a", deadline=101), job("b", deadline=101), job("c"))
        await engine.until_asked(1)
        clock.pass_by()
        for task in tasks[:2]:
            with pytest.raises(JobOverdue):
                await task
        engine.open()
        assert (await tasks[2]).text == "c"
        assert len(engine.cancelled) == 1


async def test_full_queues_refuse_with_a_reason() -> None:
    engine = Gated()
    async with Scheduler({"default": engine}, most_waiting=3, most_waiting_per_gana=2) as scheduler:
        tasks = start(scheduler, *(job(gana="one") for _ in range(3)))
        await engine.until_asked(1)
        with pytest.raises(JobRefused, match="2 jobs of one wait"):
            await scheduler.submit(job(gana="one"))
        tasks += start(scheduler, job(gana="two"))
        await settle()
        with pytest.raises(JobRefused, match="3 jobs wait"):
            await scheduler.submit(job(gana="three"))
        engine.open(4)
        await asyncio.gather(*tasks)
        engine.open()
        assert (await scheduler.submit(job(gana="one"))).text == "hi"


async def test_closing_ends_every_waiter_and_whoever_comes_later() -> None:
    engine = Gated()
    scheduler = Scheduler({"default": engine})
    tasks = start(scheduler, *(job() for _ in range(4)))
    await engine.until_asked(1)
    await scheduler.aclose()
    for result in await asyncio.gather(*tasks, return_exceptions=True):
        assert isinstance(result, JobRefused)
    assert engine.running == 0
    with pytest.raises(JobRefused):
        await scheduler.submit(job())
    assert not engine.closed


async def test_an_unknown_engine_is_told_with_the_known_ones() -> None:
    async with Scheduler({"default": ScriptedEngine(), "big": ScriptedEngine()}) as scheduler:
        with pytest.raises(NotFound, match="`huge`.*big, default"):
            await scheduler.submit(job(engine="huge"))

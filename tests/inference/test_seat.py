"""What the policy decides, carried out on real tasks: a scripted engine on a clock that a test moves."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence

import pytest

from tests.virtual_clock import VirtualClock
from uniun_bots.errors import EngineError, EngineLost, JobCancelled, JobRefused, ModelNotFound, ModelUnusable
from uniun_bots.inference.completion import Completion
from uniun_bots.inference.engine import EngineInfo
from uniun_bots.inference.job import Job
from uniun_bots.inference.request import Message, Request
from uniun_bots.inference.scheduler import Scheduler
from uniun_bots.inference.scripted import Reply, ScriptedEngine

Answer = asyncio.Task[Completion]


class Changeable(ScriptedEngine):
    """Answers with the words it was asked, after as many seconds as they say; can change and drop its model."""

    def __init__(self, clock: VirtualClock, seat: str = "shared", slots: int = 1) -> None:
        async def sleep(seconds: float) -> None:
            await clock.sleep_until(clock.now() + seconds)

        super().__init__(self._echo, slots=slots, sleep=sleep)
        self.unusable = False
        self.seat = seat
        self.loads = self.unloads = 0
        self.load_s = 0.0
        self.missing: Sequence[str] = ()
        self.used: list[str] = []

    @staticmethod
    def _echo(request: Request) -> Reply:
        text = request.messages[0].content
        if text == "lost":
            return Reply("", error=EngineLost("gone"))
        return Reply(text, after_s=float(text.split()[1]))

    async def load(self) -> EngineInfo:
        self.loads += 1
        if self.load_s:
            await self._sleep(self.load_s)
        if self.unusable:
            raise ModelUnusable("not a GGUF")
        return await super().load()

    async def unload(self) -> None:
        self.unloads += 1

    async def use(self, model: str) -> EngineInfo:
        await self._sleep(5)
        if model in self.missing:
            raise ModelNotFound(f"there is no {model}")
        self.used.append(model)
        return EngineInfo(model, 4096, 1)

    def asked(self) -> list[str]:
        return [request.messages[0].content.split()[0] for request in self.requests]


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


@pytest.fixture
def engine(clock: VirtualClock) -> Changeable:
    return Changeable(clock)


def job(text: str, kind: str = "gana", due: float | None = None, engine: str = "default") -> Job:
    """`text` is a name and how long the answer takes; the name is also the Gana's."""
    request = Request((Message("user", text),), max_tokens=16)
    gana = text.split()[0]
    if kind == "chat":
        return Job(gana, engine, request, kind="chat")
    return Job(gana, engine, request, due=due)


def ask(scheduler: Scheduler, *jobs: Job) -> list[Answer]:
    return [asyncio.create_task(scheduler.submit(job)) for job in jobs]


async def test_a_job_that_gave_way_is_answered_in_the_end_and_its_caller_saw_nothing(
    clock: VirtualClock, engine: Changeable
) -> None:
    async with Scheduler({"default": engine}, clock=clock) as scheduler:
        [gana] = ask(scheduler, job("gana 30"))
        await clock.advance(10)
        [chat] = ask(scheduler, job("hello 4", "chat"))
        await clock.advance(4)
        assert (await chat).text == "hello 4"
        assert engine.asked() == ["gana", "hello"]
        await clock.advance(9.9)
        assert engine.running == 0
        await clock.advance(0.1)
        assert engine.asked() == ["gana", "hello", "gana"]
        await clock.advance(30)
        assert (await gana).text == "gana 30"
        [seat] = scheduler.snapshot()["seats"]
        assert seat["counters"] == {"submitted": 2, "preempted": 1, "done": 2}
        assert [gone["reason"] for gone in seat["preemptions"]] == ["somebody chats"]


async def test_a_chat_turn_holds_background_work_back_between_its_inferences(
    clock: VirtualClock, engine: Changeable
) -> None:
    async with Scheduler({"default": engine}, clock=clock) as scheduler:
        async with scheduler.chat_turn():
            [gana] = ask(scheduler, job("gana 1"))
            await clock.advance(60)
            assert engine.asked() == []
            chat = asyncio.create_task(scheduler.submit(job("hello 1", "chat")))
            await clock.advance(60)
            await chat
            assert engine.asked() == ["hello"]
        await clock.advance(10)
        assert engine.asked() == ["hello", "gana"]
        await clock.advance(1)
        await gana


@pytest.mark.parametrize("apart_s", [0, 1_000_000])
async def test_a_deadline_that_passes_stops_the_pool_without_anything_else_happening(
    clock: VirtualClock, engine: Changeable, apart_s: float
) -> None:
    """The clock on the wall, by which it is due, and the steady one begin at different times."""
    async with Scheduler({"default": engine}, clock=clock, steady=lambda: clock.now() - apart_s) as scheduler:
        tasks = ask(scheduler, job("long 500"), job("other 1"), job("timer 1", due=clock.now()))
        await clock.advance(59)
        assert engine.asked() == ["long"]
        await clock.advance(1)
        assert engine.asked() == ["long", "timer"]
        await clock.advance(600)
        await asyncio.gather(*tasks)


async def test_the_foreground_takes_over_and_gives_back(clock: VirtualClock, engine: Changeable) -> None:
    async with Scheduler({"default": engine}, clock=clock) as scheduler:
        tasks = ask(scheduler, job("a 10"), job("b 10"))
        await clock.advance(5)
        scheduler.set_foreground("b")
        await clock.settle()
        assert engine.asked() == ["a", "b"]
        scheduler.set_foreground(None)
        await clock.advance(20)
        await asyncio.gather(*tasks)
        assert engine.asked() == ["a", "b", "a"]


async def test_a_forced_switch_tells_the_chat_and_not_the_gana(
    clock: VirtualClock, engine: Changeable
) -> None:
    async with Scheduler({"default": engine}, clock=clock) as scheduler:
        [gana] = ask(scheduler, job("gana 3"))
        await clock.advance(1)
        [chat] = ask(scheduler, job("hello 9", "chat"))
        await clock.advance(1)
        switch = asyncio.create_task(scheduler.switch("default", "path:new.gguf", forced=True))
        await clock.advance(5)
        assert (await switch).model == "path:new.gguf"
        with pytest.raises(JobCancelled, match="a model switch was forced"):
            await chat
        assert engine.used == ["path:new.gguf"]
        await clock.advance(13)
        assert (await gana).text == "gana 3"
        assert scheduler.status()[0].model == "path:new.gguf"


async def test_an_engine_is_told_the_tier_of_each_request(clock: VirtualClock, engine: Changeable) -> None:
    async with Scheduler({"default": engine}, clock=clock) as scheduler:
        tasks = ask(scheduler, job("pool 5"), job("late 5", due=clock.now() - 60), job("hello 5", "chat"))
        await clock.advance(60)
        await asyncio.gather(*tasks)
    assert [(request.messages[0].content, request.tier) for request in engine.requests] == [
        ("hello 5", 0),
        ("late 5", 3),
        ("pool 5", 4),
    ]


async def test_a_gentle_switch_waits_for_what_runs(clock: VirtualClock, engine: Changeable) -> None:
    async with Scheduler({"default": engine}, clock=clock) as scheduler:
        tasks = ask(scheduler, job("gana 10"), job("next 1"))
        await clock.advance(1)
        switch = asyncio.create_task(scheduler.switch("default", "path:new.gguf"))
        await clock.advance(8)
        assert engine.used == []
        await clock.advance(6)
        await switch
        assert engine.asked() == ["gana", "next"]
        await clock.advance(1)
        await asyncio.gather(*tasks)


async def test_a_switch_that_fails_tells_its_caller_and_the_jobs_go_on(
    clock: VirtualClock, engine: Changeable
) -> None:
    engine.missing = ["path:gone.gguf"]
    async with Scheduler({"default": engine}, clock=clock) as scheduler:
        switch = asyncio.create_task(scheduler.switch("default", "path:gone.gguf"))
        second = asyncio.create_task(scheduler.switch("default", "path:new.gguf"))
        [gana] = ask(scheduler, job("gana 1"))
        await clock.advance(5)
        with pytest.raises(ModelNotFound):
            await switch
        await clock.advance(6)
        assert (await second).model == "path:new.gguf"
        assert (await gana).text == "gana 1"


async def test_an_engine_without_other_models_says_so() -> None:
    async with Scheduler({"default": ScriptedEngine()}) as scheduler:
        with pytest.raises(EngineError, match="cannot change its model"):
            await scheduler.switch("default", "path:new.gguf")


async def test_a_lost_engine_is_told_and_the_next_job_runs(clock: VirtualClock, engine: Changeable) -> None:
    async with Scheduler({"default": engine}, clock=clock) as scheduler:
        lost, following = ask(scheduler, job("lost"), job("next 1"))
        await clock.advance(1)
        with pytest.raises(EngineLost):
            await lost
        assert (await following).text == "next 1"


async def test_engines_of_one_seat_run_one_at_a_time_and_the_other_model_is_taken_out(
    clock: VirtualClock,
) -> None:
    small, big = Changeable(clock), Changeable(clock)
    async with Scheduler({"small": small, "big": big}, clock=clock) as scheduler:
        tasks = ask(
            scheduler, job("a 10", engine="small"), job("b 10", engine="big"), job("c 10", engine="small")
        )
        await clock.advance(15)
        assert (small.running, big.running) == (1, 0)
        await clock.advance(10)
        assert (small.running, big.running, small.unloads) == (0, 1, 1)
        await clock.advance(5)
        await asyncio.gather(*tasks)
        assert (small.asked(), big.asked()) == (["a", "c"], ["b"])
        assert (small.loads, big.loads, big.unloads) == (1, 1, 0)


async def test_loading_goes_on_for_the_next_when_the_job_that_began_it_gives_way(
    clock: VirtualClock, engine: Changeable
) -> None:
    engine.load_s = 20
    async with Scheduler({"default": engine}, clock=clock) as scheduler:
        [gana] = ask(scheduler, job("gana 1"))
        await clock.advance(15)
        [chat] = ask(scheduler, job("hello 1", "chat"))
        await clock.advance(6)
        assert (await chat).text == "hello 1"
        await clock.advance(31)
        await gana
        assert engine.asked() == ["hello", "gana"]


async def test_a_chat_does_not_wait_for_a_model_that_it_does_not_need(clock: VirtualClock) -> None:
    small, big = Changeable(clock), Changeable(clock)
    big.load_s = 100
    async with Scheduler({"small": small, "big": big}, clock=clock) as scheduler:
        [gana] = ask(scheduler, job("gana 1", engine="big"))
        await clock.advance(15)
        [chat] = ask(scheduler, job("hello 1", "chat", engine="small"))
        await clock.advance(1)
        assert (await chat).text == "hello 1"
        await clock.advance(10 + 101)
        assert (await gana).text == "gana 1"
        assert (big.loads, small.unloads) == (2, 1)


async def test_a_forced_switch_does_not_wait_for_the_model_that_it_replaces(
    clock: VirtualClock, engine: Changeable
) -> None:
    engine.load_s = 100
    async with Scheduler({"default": engine}, clock=clock) as scheduler:
        [gana] = ask(scheduler, job("gana 1"))
        await clock.advance(15)
        switch = asyncio.create_task(scheduler.switch("default", "new", forced=True))
        await clock.advance(5)
        assert (await switch).model == "new"
        await clock.advance(1)
        assert (await gana).text == "gana 1"


async def test_two_names_of_one_engine_are_one_seat(clock: VirtualClock, engine: Changeable) -> None:
    async with Scheduler({"big": engine, "default": engine}, clock=clock) as scheduler:
        tasks = ask(scheduler, job("a 1", engine="big"), job("b 1", engine="default"))
        await clock.settle()
        assert engine.running == 1
        big, default = scheduler.status()
        assert (big.running, big.waiting, default.running, default.waiting) == (("a",), (), (), ("b",))
        await clock.advance(2)
        await asyncio.gather(*tasks)
        assert (engine.loads, engine.unloads) == (1, 0)


async def test_calls_overlap_on_an_engine_with_slots_and_all_of_them_give_way_to_a_chat(
    clock: VirtualClock,
) -> None:
    cloud = Changeable(clock, slots=2)
    async with Scheduler({"default": cloud}, clock=clock) as scheduler:
        tasks = ask(scheduler, job("a 30"), job("b 30"), job("c 30"))
        await clock.advance(1)
        assert cloud.running == 2
        [chat] = ask(scheduler, job("hello 5", "chat"))
        await clock.advance(1)
        assert cloud.running == 1
        await clock.advance(14)
        await chat
        assert cloud.running == 2
        await clock.advance(90)
        await asyncio.gather(*tasks)
        assert sorted(cloud.asked()) == ["a", "a", "b", "b", "c", "hello"]


async def test_a_caller_that_goes_away_while_its_job_gives_way_is_not_queued_again(
    clock: VirtualClock, engine: Changeable
) -> None:
    async with Scheduler({"default": engine}, clock=clock) as scheduler:
        [gana] = ask(scheduler, job("gana 30"))
        await clock.advance(1)
        [chat] = ask(scheduler, job("hello 1", "chat"))
        await asyncio.sleep(0)
        gana.cancel()
        await clock.advance(60)
        await chat
        assert gana.cancelled()
        assert engine.asked() == ["gana", "hello"]
        [seat] = scheduler.snapshot()["seats"]
        assert (seat["running"], seat["waiting"]) == ([], [])


async def test_closing_ends_those_that_wait_for_a_chat_to_be_quiet(
    clock: VirtualClock, engine: Changeable
) -> None:
    scheduler = Scheduler({"default": engine}, clock=clock)
    async with scheduler.chat_turn():
        [gana] = ask(scheduler, job("gana 30"))
        await clock.settle()
    await clock.settle()
    await scheduler.aclose()
    with pytest.raises(JobRefused, match="closing"):
        await gana
    with pytest.raises(JobRefused, match="closing"):
        await scheduler.switch("default", "path:new.gguf")


async def test_closing_stops_a_load_that_is_under_way(clock: VirtualClock, engine: Changeable) -> None:
    engine.load_s = 1000
    scheduler = Scheduler({"default": engine}, clock=clock)
    [gana] = ask(scheduler, job("gana 30"))
    await clock.settle()
    await scheduler.aclose()
    with pytest.raises(JobRefused, match="closing"):
        await gana
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_a_model_that_cannot_be_loaded_is_told_and_does_not_count_as_loaded(
    clock: VirtualClock, engine: Changeable
) -> None:
    engine.unusable = True
    async with Scheduler({"default": engine}, clock=clock) as scheduler:
        with pytest.raises(ModelUnusable):
            await scheduler.submit(job("gana 1"))
        assert scheduler.snapshot()["seats"][0]["loaded"] is None
        engine.unusable = False
        [gana] = ask(scheduler, job("gana 1"))
        await clock.advance(1)
        assert (await gana).text == "gana 1"


async def test_a_wall_clock_that_is_set_back_does_not_hold_anybody_up() -> None:
    clock, steady = VirtualClock(), VirtualClock(now=0)
    engine = Changeable(steady)
    async with Scheduler({"default": engine}, clock=clock, steady=steady.now) as scheduler:
        async with scheduler.chat_turn():
            [gana] = ask(scheduler, job("gana 1"))
            await clock.settle()
        clock.set(clock.now() - 3600)
        await steady.advance(11)
        [other] = ask(scheduler, job("other 1"))
        await steady.advance(2)
        assert [(await one).text for one in (gana, other)] == ["gana 1", "other 1"]


async def test_a_snapshot_shows_what_decides(clock: VirtualClock, engine: Changeable) -> None:
    async with Scheduler({"default": engine}, clock=clock) as scheduler:
        tasks = ask(scheduler, job("a 10"), job("a 10"), job("b 10"))
        await clock.advance(12)
        shown = json.loads(json.dumps(scheduler.snapshot()))
        [seat] = shown["seats"]
        assert seat["loaded"] == "default"
        assert seat["tiers"]["pool"] == 1
        [running], [waiting] = seat["running"], seat["waiting"]
        assert (running["for"], running["tier"]) == ("b", "pool")
        assert (waiting["for"], waiting["kind"], waiting["age_s"]) == ("a", "gana", 12)
        assert seat["runtimes"] == {"a": 10, "b": 0}
        assert seat["extract"] == {"used_s": 0, "limit_s": 180}
        await clock.advance(20)
        await asyncio.gather(*tasks)

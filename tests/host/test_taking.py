"""Who stands in the scheduler's queue, on a whole host with a model for one at a time."""

from __future__ import annotations

import asyncio

import pytest

from tests.host.shifted_clock import ShiftedClock
from tests.host.stage import Stage, decided, fate_of, last_words, rows_of, until
from uniun_bots.host import house, taking
from uniun_bots.host.host import Host
from uniun_bots.inference.job import Job
from uniun_bots.inference.request import Message, Request
from uniun_bots.inference.scripted import Reply, ScriptedEngine
from uniun_bots.nostr.secret import new_secret
from uniun_bots.nostr.signer import LocalSigner

MENTIONS: dict[str, str | None] = {"input": "{type: mentions}", "output": "{type: feed, reply: true}"}
TIMER: dict[str, str | None] = {
    "input": None,
    "output": "{type: feed}",
    "trigger": "on-schedule",
    "every": "1h",
    "task": "Tell the high waters of today.",
}


def hanging() -> ScriptedEngine:
    return ScriptedEngine(lambda request: Reply("", hangs=True))


def numbered(go_on: asyncio.Event) -> ScriptedEngine:
    """Answers nobody before `go_on`."""

    async def wait(_: float) -> None:
        await go_on.wait()

    numbers = iter(range(100))
    return ScriptedEngine(lambda request: Reply(f"Answer {next(numbers)}.", after_s=1.0), sleep=wait)


def in_line(host: Host) -> list[str]:
    """Ganas of the jobs that run or wait."""
    return sorted(gana for lane in host.house.scheduler.status() for gana in (*lane.running, *lane.waiting))


async def all_in_line(host: Host, *ganas: str) -> None:
    async def stand() -> bool:
        return in_line(host) == sorted(ganas)

    await until(stand)


async def ask_much(stage: Stage, host: Host, questions: int) -> None:
    """Each by another person; until the host looked at all of them."""
    for number in range(questions):
        await stage.ask(f"question {number}", by=LocalSigner(new_secret()))
    await all_looked_at(host, questions)


async def all_looked_at(host: Host, notes: int) -> None:
    async def looked_at() -> bool:
        (kept,) = await rows_of(host, "SELECT count(*) AS n FROM notes")
        return kept["n"] == notes and bool(in_line(host)) and not len(host.house.wakeups)

    await until(looked_at)


async def test_all_ganas_stand_in_line_at_once(stage: Stage) -> None:
    names = [f"gana{number}" for number in range(15)]
    for name in names:
        stage.persona(name)
    stage.engine = hanging()
    async with stage.host() as host:
        await stage.ask("When is high water?")
        await all_in_line(host, *names)


async def test_a_busy_gana_has_its_places_and_no_more(stage: Stage) -> None:
    stage.persona()
    stage.persona("gull", **MENTIONS)
    stage.engine = hanging()
    async with stage.host() as host:
        places = host.house.taking.places_of_one()
        await ask_much(stage, host, places + 3)
        await all_in_line(host, *["tide"] * places)
        await stage.post(1, "And you?", ("p", stage.bots["gull"].public_key))
        await all_in_line(host, *["tide"] * places, "gull")


async def test_in_a_crowd_each_gana_has_one_place_and_nothing_is_lost(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(taking, "CROWD", 0)
    stage.persona()
    stage.persona("gull", **MENTIONS)
    go_on = asyncio.Event()
    stage.engine = numbered(go_on)
    async with stage.host() as host:
        places = host.house.taking.places_of_one()
        await ask_much(stage, host, places + 2)
        await all_in_line(host, *["tide"] * places)
        for _ in range(3):
            await stage.post(
                1, "And you?", ("p", stage.bots["gull"].public_key), by=LocalSigner(new_secret())
            )
        await all_looked_at(host, places + 2 + 3)
        await all_in_line(host, *["tide"] * places, "gull")
        go_on.set()
        await stage.replies(places + 2)
        await stage.replies(3, "gull")


async def test_a_late_timer_stops_what_runs_and_is_published_first(stage: Stage) -> None:
    def answer(request: Request) -> Reply:
        wanted_by_timer = "Write your post" in last_words(request)
        return Reply("High water at 14:10.") if wanted_by_timer else Reply("", hangs=True)

    stage.persona()
    stage.persona("harbour", **TIMER)
    stage.engine = engine = ScriptedEngine(answer)
    clock = ShiftedClock()
    async with stage.host(clock) as host:
        await stage.ask("When is high water?")
        await engine.until_asked(1)
        clock.move(3600)
        await all_in_line(host, "tide", "harbour")
        [seat] = host.house.scheduler.snapshot()["seats"]
        assert [(one["for"], one["tier"]) for one in seat["waiting"]] == [("harbour", "pool")]
        clock.move(61)
        (post,) = await stage.replies(1, "harbour")
        assert post.content == "High water at 14:10."
        [seat] = host.house.scheduler.snapshot()["seats"]
        assert [one["owner"] for one in seat["preemptions"]] == ["tide"]
        assert [row["gana"] for row in await rows_of(host, "SELECT gana FROM runs")] == ["harbour"]


async def test_who_says_stop_while_standing_in_line_gets_no_answer(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(house, "LONG_RUN_S", 0.0)
    go_on = asyncio.Event()
    stage.persona(**MENTIONS)
    stage.engine = numbered(go_on)
    async with stage.host() as host:
        bot = stage.bots["tide"].public_key
        question = await stage.post(1, "When is high water?", ("p", bot))
        await all_in_line(host, "tide")
        stop = await stage.post(1, "stop", ("p", bot))
        other = await stage.post(1, "And low water?", ("p", bot), by=LocalSigner(new_secret()))
        await all_in_line(host, "tide", "tide")
        go_on.set()
        await decided(host, question, stop, other)
        fates = [await fate_of(host, one) for one in (question, stop, other)]
    assert fates == ["held: stop", "held: mutes", "succeeded"]
    assert len(await stage.said()) == 1


async def test_an_hour_in_the_queue_is_no_reason_to_fail(stage: Stage) -> None:
    go_on = asyncio.Event()
    stage.persona()
    stage.persona("gull")
    stage.engine = numbered(go_on)
    clock = ShiftedClock()
    async with stage.host(clock) as host:
        await stage.ask("When is high water?")
        await all_in_line(host, "tide", "gull")
        clock.move(3600)
        go_on.set()
        for name in ("tide", "gull"):
            await stage.replies(1, name)
        assert await host.idle(10)
        runs = await rows_of(host, "SELECT attempt, ending FROM runs")
        assert [(run["attempt"], run["ending"]) for run in runs] == [(1, "succeeded")] * 2


class Seated(ScriptedEngine):
    seat = "one model at a time"


@pytest.mark.parametrize(("affinity", "order"), [("60s", "acb"), ("0s", "abc")])
async def test_the_loaded_model_goes_first_as_far_as_host_yaml_says(
    stage: Stage, affinity: str, order: str
) -> None:
    stage.settings(f"affinity: {affinity}")
    began, go_on = list[str](), asyncio.Event()

    def said(request: Request) -> Reply:
        began.append(request.messages[0].content)
        return Reply("Fine.", after_s=1.0)

    async def wait(_: float) -> None:
        await go_on.wait()

    stage.engine = Seated(said, sleep=wait)
    stage.engines["other"] = Seated(said, sleep=wait)
    async with stage.host() as host, asyncio.TaskGroup() as jobs:
        for name, engine in (("a", "default"), ("b", "other"), ("c", "default")):
            request = Request((Message("user", name),), 8)
            jobs.create_task(host.house.scheduler.submit(Job(name, engine, request)))
        await all_in_line(host, "a", "b", "c")
        go_on.set()
    assert "".join(began) == order

"""Triggers on a whole host: schedules on a clock that a test moves, and the presets that run once."""

from __future__ import annotations

from tests.host.shifted_clock import ShiftedClock
from tests.host.stage import GROUP, Stage, decided, fate_of, last_words, rows_of, until
from uniun_bots.clock import WallClock
from uniun_bots.host.control.ask import ask_host
from uniun_bots.host.host import Host
from uniun_bots.inference.scripted import ScriptedEngine
from uniun_bots.nostr.secret import new_secret
from uniun_bots.nostr.signer import LocalSigner

FEED: dict[str, str | None] = {"input": None, "output": "{type: feed}"}


async def ran(host: Host, count: int) -> None:
    async def enough() -> bool:
        return len(await rows_of(host, "SELECT 1 FROM runs")) >= count

    await until(enough)
    assert await host.idle(10)
    assert len(await rows_of(host, "SELECT 1 FROM runs")) == count


async def test_a_schedule_runs_when_its_time_comes_and_missed_times_are_one(stage: Stage) -> None:
    stage.persona(**FEED, trigger="on-schedule", every="5m")
    clock = ShiftedClock()
    async with stage.host(clock) as host:
        assert await host.idle(10)
        assert await rows_of(host, "SELECT 1 FROM runs") == []
        clock.move(301)
        await ran(host, 1)
        clock.move(3001)
        await ran(host, 2)
        keys = [row["key"] for row in await rows_of(host, "SELECT key FROM answered")]
        assert len(keys) == 2 and all(key.startswith("due:") for key in keys)
    notes = await stage.said()
    assert [(note.kind, note.tags) for note in notes] == [(1, ())] * 2


async def test_a_time_that_passed_while_the_host_was_down_is_made_up_for_once(stage: Stage) -> None:
    stage.persona(**FEED, trigger="on-schedule", every="5m")
    async with stage.host() as host:
        assert await host.idle(10)
    clock = ShiftedClock()
    clock.move(1000)
    async with stage.host(clock) as host:
        await ran(host, 1)
    async with stage.host(clock) as host:
        assert await host.idle(10)
    assert len(await stage.said()) == 1


async def test_a_schedule_with_an_input_answers_everything_that_is_pending_at_once(stage: Stage) -> None:
    stage.persona(trigger="on-schedule", every="5m")
    clock = ShiftedClock()
    async with stage.host(clock) as host:
        asked = [await stage.ask(f"question {number}", LocalSigner(new_secret())) for number in range(3)]
        await decided(host, *asked)
        assert stage.engine.requests == []
        clock.move(301)
        await ran(host, 1)
        assert [await fate_of(host, one) for one in asked] == ["succeeded"] * 3
        assert all(f"question {number}" in last_words(stage.engine.requests[0]) for number in range(3))
        clock.move(301)
        assert await host.idle(10)
        assert len(stage.engine.requests) == 1


async def test_message_or_schedule_does_both(stage: Stage) -> None:
    stage.persona(trigger="message-or-schedule", every="5m", input=f"{{type: group, ref: {GROUP}}}")
    clock = ShiftedClock()
    async with stage.host(clock) as host:
        question = await stage.ask("When is high water?")
        await decided(host, question)
        assert await fate_of(host, question) == "succeeded"
        assert len(await rows_of(host, "SELECT 1 FROM timetable")) == 1


async def test_once_on_enable_runs_once_until_it_is_armed_again(stage: Stage) -> None:
    stage.persona(**FEED, trigger="once-on-enable")
    for _ in range(2):
        async with stage.host() as host:
            await ran(host, 1)
    async with stage.host() as host:
        clock_now = int(WallClock().now())

        async def next_second() -> bool:
            return int(WallClock().now()) > clock_now

        await until(next_second)
        await host.reload(rearm=("tide",))
        await ran(host, 2)
    assert len(await stage.said()) == 2


async def test_once_on_enable_that_was_paused_in_time_runs_after_it_is_resumed(stage: Stage) -> None:
    stage.persona(**FEED, trigger="once-on-enable", mode="off")
    async with stage.host() as host:
        where = host.project.data_dir
        await ask_host(where, "POST", "/pause", {"ganas": ["tide"], "why": "by a person"})
        stage.persona(**FEED, trigger="once-on-enable")
        await host.reload()
        assert await host.idle(10)
        assert stage.engine.requests == []
        await ask_host(where, "POST", "/resume", {"ganas": ["tide"]})
        await ran(host, 1)
    assert len(await stage.said()) == 1


async def test_once_on_first_message_answers_one_and_holds_the_rest(stage: Stage) -> None:
    stage.persona(trigger="once-on-first-message")
    async with stage.host() as host:
        first = await stage.ask("one")
        await decided(host, first)
        second = await stage.ask("two", LocalSigner(new_secret()))
        await decided(host, second)
        assert await fate_of(host, first) == "succeeded"
        assert (await fate_of(host, second)).startswith("held: trigger")
    async with stage.host() as host:
        third = await stage.ask("three", LocalSigner(new_secret()))
        await decided(host, third)
        assert (await fate_of(host, third)).startswith("held: trigger")
    assert len(await stage.said()) == 1


async def test_a_once_trigger_is_not_spent_by_silence(stage: Stage) -> None:
    stage.persona(trigger="once-on-first-message")
    replies = iter(["<NOOP>", "Now I speak."])
    stage.engine = ScriptedEngine(lambda request: next(replies))
    async with stage.host() as host:
        first = await stage.ask("one")
        await decided(host, first)
        second = await stage.ask("two")
        await decided(host, second)
        assert [await fate_of(host, one) for one in (first, second)] == ["silent", "succeeded"]

"""Memories in a running host."""

from __future__ import annotations

import json
import sqlite3

import pytest

from tests.graph.long_notes import BREAD, OF_BREAD, OF_TIDES, TIDES
from tests.host.shifted_clock import ShiftedClock
from tests.host.stage import Stage, decided, last_words, rows_of, until
from uniun_bots.cli.status import memory_line
from uniun_bots.errors import EngineError, EngineLost
from uniun_bots.graph import extractions
from uniun_bots.host.control.snapshot import snapshot
from uniun_bots.host.host import Host
from uniun_bots.host.tending.remembering import LOOK_AGAIN_S, NO_MODEL_RETRY_S
from uniun_bots.inference.request import Request
from uniun_bots.inference.scripted import Reply, ScriptedEngine


def summing_up(request: Request) -> Reply | str:
    """Summaries where a schema is asked for, else an answer."""
    if not request.json_schema:
        return f"Answer to {len(last_words(request))} characters."
    return json.dumps({"summary": OF_BREAD if "bread" in last_words(request) else OF_TIDES})


async def remembered(host: Host, *texts: str) -> None:
    async def all_of_them() -> bool:
        rows = await rows_of(host, "SELECT text FROM memories ORDER BY text")
        return [row["text"] for row in rows] == sorted(texts)

    await until(all_of_them)


@pytest.fixture
def remembering(stage: Stage) -> Stage:
    stage.settings("memories: on")
    stage.persona()
    stage.engine = ScriptedEngine(summing_up)
    return stage


async def test_a_long_note_gets_a_memory_beside_its_answer_and_a_short_one_none(remembering: Stage) -> None:
    async with remembering.host() as host:
        short = await remembering.ask("short")
        await decided(host, short, await remembering.ask(TIDES))
        await remembered(host, OF_TIDES)
        found = await snapshot(host)
        assert found["memories_on"]
        assert memory_line(found["memories"]) == "1 memories; 0 notes wait for one, 0 given up"
        assert [status.failed for status in host.house.scheduler.status()] == [0]


async def test_with_memories_off_nothing_is_queued_and_turning_them_on_finds_what_is_there(
    stage: Stage,
) -> None:
    stage.persona()
    stage.engine = ScriptedEngine(summing_up)
    async with stage.host() as host:
        await stage.ask(TIDES)
        await stage.replies(1)
        assert not any(request.json_schema for request in stage.engine.requests)
        assert await rows_of(host, "SELECT * FROM extractions") == []
        stage.settings("memories: on")
        await host.reload()
        await remembered(host, OF_TIDES)


async def test_it_rests_while_there_is_nothing_to_do(
    remembering: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = 0
    real = extractions.unqueued

    def counted(tx: sqlite3.Connection) -> bool:
        nonlocal looks
        looks += 1
        return real(tx)

    monkeypatch.setattr(extractions, "unqueued", counted)
    clock = ShiftedClock()
    async with remembering.host(clock) as host:
        await remembering.ask(TIDES)
        await remembered(host, OF_TIDES)
        for _ in range(20):
            clock.move(LOOK_AGAIN_S / 50)
            await host.store.read(lambda tx: None)
        await remembering.ask(BREAD)
        clock.move(2)
        await remembered(host, OF_TIDES, OF_BREAD)
    assert looks <= 8, "one look for each sign, and one more that finds nothing"


async def test_what_came_without_a_sign_is_found_later(remembering: Stage) -> None:
    clock = ShiftedClock()
    async with remembering.host(clock) as host:
        await remembering.ask(TIDES)
        await remembered(host, OF_TIDES)
        await host.store.write(
            lambda tx: tx.execute(
                "INSERT INTO notes (id, author, kind, created_at, text, origin, heard_at)"
                " VALUES ('d1', 'd2', 1, 0, ?, 'draft', 0)",
                (BREAD,),
            )
        )
        clock.move(LOOK_AGAIN_S + 1)

        async def found() -> bool:
            clock.move(2)
            return len(await rows_of(host, "SELECT 1 FROM memories")) == 2

        await until(found)


async def test_a_note_that_waits_when_the_host_ends_gets_its_memory_after_the_next_start(
    remembering: Stage,
) -> None:
    waiting = True

    def hanging(request: Request) -> Reply | str:
        return Reply("", hangs=True) if request.json_schema and waiting else summing_up(request)

    remembering.engine = ScriptedEngine(hanging, slots=2)
    async with remembering.host() as host:
        await remembering.ask(TIDES)
        await remembering.replies(1)
        await remembering.engine.until_asked(2)
        (row,) = await rows_of(host, "SELECT attempts FROM extractions")
        assert row["attempts"] == 0
    waiting = False
    async with remembering.host() as host:
        await remembered(host, OF_TIDES)
        assert await rows_of(host, "SELECT * FROM extractions") == []


@pytest.mark.parametrize(("fault", "tries"), [(EngineError("no room"), 0), (EngineLost("died"), 1)])
async def test_without_a_model_notes_wait_and_only_what_the_note_may_have_done_counts(
    remembering: Stage, fault: Exception, tries: int
) -> None:
    broken = True

    def failing(request: Request) -> Reply | str:
        return Reply("", error=fault) if request.json_schema and broken else summing_up(request)

    remembering.engine = ScriptedEngine(failing)
    clock = ShiftedClock()
    async with remembering.host(clock) as host:
        await remembering.ask(TIDES)

        async def refused() -> bool:
            return bool(await rows_of(host, "SELECT 1 FROM extractions WHERE reason != ''"))

        await until(refused)
        (row,) = await rows_of(host, "SELECT attempts FROM extractions")
        assert row["attempts"] == tries
        broken = False

        async def made() -> bool:
            clock.move(NO_MODEL_RETRY_S)
            return bool(await rows_of(host, "SELECT 1 FROM memories"))

        await until(made)


async def test_nonsense_is_given_up_and_told(remembering: Stage) -> None:
    remembering.engine = ScriptedEngine(lambda request: "{}" if request.json_schema else "Answer.")
    clock = ShiftedClock()
    async with remembering.host(clock) as host:
        await remembering.ask(TIDES)

        async def given_up() -> bool:
            clock.move(60)
            return bool((await snapshot(host))["memories"]["given_up"])

        await until(given_up)
        assert await rows_of(host, "SELECT * FROM memories") == []
        (row,) = await rows_of(host, "SELECT * FROM extractions")
        assert (row["attempts"], row["reason"]) == (3, "no summary in what the model wrote")
    assert sum(bool(request.json_schema) for request in remembering.engine.requests) == 3

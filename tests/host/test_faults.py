"""What goes wrong under a running host: engines, steps, the store, a second machine. It goes on, and loses nothing."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import Callable
from typing import Any

import pytest

from tests.host.stage import GROUP, Stage, decided, fate_of, last_words, numbered, rows_of, until
from uniun_bots.clock import WallClock, monotonic
from uniun_bots.errors import ModelNotFound, StoreError
from uniun_bots.graph.keep import keep
from uniun_bots.host import house as house_module
from uniun_bots.host import loops
from uniun_bots.host import taking as taking_module
from uniun_bots.host.actions import pause
from uniun_bots.host.host import Host
from uniun_bots.inference.engine import EngineInfo
from uniun_bots.inference.scripted import Reply, ScriptedEngine
from uniun_bots.inputs.take import take
from uniun_bots.journal.close import close
from uniun_bots.nostr.event import Event
from uniun_bots.nostr.secret import new_secret
from uniun_bots.nostr.signer import LocalSigner
from uniun_bots.triggers.match import match

POISON = "p0ison"


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tries follow each other at once."""
    monkeypatch.setattr("uniun_bots.inputs.retries.BACKOFF_S", (0.02,) * 4)


def strangers(count: int) -> list[LocalSigner]:
    return [LocalSigner(new_secret()) for _ in range(count)]


async def ask_all(stage: Stage, *texts: str) -> list[Event]:
    """Each by another author, so that each is a turn of its own."""
    return [await stage.ask(text, one) for text, one in zip(texts, strangers(len(texts)), strict=True)]


async def fates(host: Host, events: list[Event]) -> list[str]:
    return [await fate_of(host, event) for event in events]


FAULTS = [RuntimeError("no"), RecursionError("too deep"), MemoryError(), TimeoutError(), ValueError("no")]


@pytest.mark.parametrize("step", ["gather", "run_one_shot", "draft_reply"])
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: type(fault).__name__)
async def test_one_poisoned_event_does_not_stop_the_others(
    stage: Stage,
    soon: None,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    step: str,
    fault: Exception,
) -> None:
    """A52: the third of five events breaks a step; it is tried a bounded number of times, then parked and told."""
    stage.persona()
    tries = 0
    whole: Callable[..., Any] = getattr(house_module, step)

    def broken(*args: Any, **given: Any) -> Any:
        nonlocal tries
        if any(POISON in str(one) for one in args):
            tries += 1
            raise type(fault)(*fault.args)
        return whole(*args, **given)

    monkeypatch.setattr(house_module, step, broken)
    async with stage.host() as host:
        asked = await ask_all(stage, "one", "two", POISON, "four", "five")
        await until(lambda: given_up(host))
        await decided(host, *asked)
        assert await fates(host, asked) == ["succeeded", "succeeded", "dead", "succeeded", "succeeded"]
        (letter,) = await rows_of(host, "SELECT kind, key, reason FROM dead_letters")
    assert tries == 5
    assert (letter["kind"], letter["key"]) == ("turn", asked[2].id)
    assert type(fault).__name__ in letter["reason"]
    assert any("dead letter" in one.message and asked[2].id in one.message for one in caplog.records)
    assert len(await stage.said()) == 4


async def given_up(host: Host) -> bool:
    return bool(await rows_of(host, "SELECT 1 FROM dead_letters"))


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: type(fault).__name__)
async def test_an_engine_that_fails_is_asked_again_and_then_given_up(
    stage: Stage, soon: None, fault: Exception
) -> None:
    stage.persona()
    answer = numbered()
    stage.engine = ScriptedEngine(
        lambda request: Reply("", error=fault) if POISON in last_words(request) else answer(request), slots=2
    )
    async with stage.host() as host:
        asked = await ask_all(stage, POISON, "two")
        await until(lambda: given_up(host))
        await decided(host, *asked)
        assert await fates(host, asked) == ["dead", "succeeded"]
        endings = await rows_of(host, "SELECT attempt, ending FROM runs WHERE gana = 'tide' ORDER BY run")
        assert [row["attempt"] for row in endings if row["ending"] == "failed"] == [1, 2, 3, 4, 5]
    assert len(await stage.said()) == 1


async def test_an_engine_that_comes_back_in_time_answers(stage: Stage, soon: None) -> None:
    stage.persona()
    stage.engine = ScriptedEngine([Reply("", error=RuntimeError("away"))] * 3 + [Reply("Back again.")])
    async with stage.host() as host:
        question = await stage.ask("When is high water?")
        (reply,) = await stage.replies(1)
        await decided(host, question)
        assert await rows_of(host, "SELECT 1 FROM retries") == []
    assert reply.content == "Back again."


class Absent(ScriptedEngine):
    """Has no model until `arrive`."""

    def __init__(self) -> None:
        super().__init__(numbered())
        self.looked = 0
        self.there = False

    async def load(self) -> EngineInfo:
        self.looked += 1
        if not self.there:
            raise ModelNotFound("no such file")
        return await super().load()


async def test_without_a_model_turns_wait_and_no_try_is_counted(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(house_module, "NO_MODEL_RETRY_S", 0.02)
    stage.persona()
    stage.engine = absent = Absent()
    async with stage.host() as host:
        question = await stage.ask("When is high water?")

        async def looked() -> bool:
            return absent.looked > 8

        await until(looked)
        assert await rows_of(host, "SELECT 1 FROM runs") == []
        assert await fate_of(host, question) == "pending"
        absent.there = True
        await stage.replies(1)
        await decided(host, question)
        (run,) = await rows_of(host, "SELECT attempt FROM runs")
        assert run["attempt"] == 1


@pytest.mark.parametrize("times", [1, 3])
async def test_a_store_that_cannot_be_written_for_a_while_loses_no_answer(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    """As with a full disk: closing fails, also as a failed run; the input is taken again by itself."""
    monkeypatch.setattr(loops, "ANSWER_AGAIN_S", 0.05)
    monkeypatch.setattr("uniun_bots.inputs.retries.BACKOFF_S", (0.02,) * 4)
    stage.persona()
    whole, failures = close, 0

    def full(tx: sqlite3.Connection, ended: Any) -> Any:
        nonlocal failures
        if failures < times:
            failures += 1
            raise StoreError("database or disk is full")
        return whole(tx, ended)

    monkeypatch.setattr(house_module, "close", full)
    async with stage.host() as host:
        question = await stage.ask("When is high water?")
        await stage.replies(1)
        await decided(host, question)
        assert await fate_of(host, question) == "succeeded"
    assert failures == times
    assert len(await stage.said()) == 1


async def test_taking_that_fails_is_tried_again(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loops, "ANSWER_AGAIN_S", 0.05)
    stage.persona()
    whole, failures = take, 0

    async def full(*args: Any) -> Any:
        nonlocal failures
        if failures < 2:
            failures += 1
            raise StoreError("database or disk is full")
        return await whole(*args)

    monkeypatch.setattr(taking_module, "take", full)
    async with stage.host() as host:
        question = await stage.ask("When is high water?")
        await stage.replies(1)
        await decided(host, question)
    assert failures == 2


async def test_matching_that_fails_is_tried_again(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing else may arrive for long: the note that was kept must not wait for it."""
    monkeypatch.setattr(loops, "PAUSE_AFTER_FAULT_S", 0.05)
    stage.persona()
    async with stage.host() as host:
        failures = iter([True, True])

        def full(*args: Any) -> Any:
            if next(failures, False):
                raise StoreError("database or disk is full")
            return match(*args)

        monkeypatch.setattr(house_module, "match", full)
        await decided(host, await stage.ask("When is high water?"))
        assert next(failures, None) is None


async def test_an_event_that_cannot_be_kept_does_not_take_its_batch_with_it(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = keep

    def picky(tx: sqlite3.Connection, batch: Any) -> Any:
        if any(POISON in heard.event.content for heard in batch):
            raise RecursionError("too deep")
        return whole(tx, batch)

    monkeypatch.setattr("uniun_bots.host.tending.keeping.keep", picky)
    stage.persona()
    async with stage.host() as host:
        asked = await ask_all(stage, "one", POISON, "three")
        await decided(host, asked[0], asked[2])
        assert await fates(host, [asked[0], asked[2]]) == ["succeeded"] * 2
        assert host.house.counters["refused"] == 1


async def test_a_note_that_its_author_deletes_meanwhile_is_not_answered(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A32: relays tell of deletions only when asked, so a long run asks before it publishes."""
    monkeypatch.setattr(house_module, "LONG_RUN_S", 0.0)
    stage.persona()
    begun, go_on = asyncio.Event(), asyncio.Event()

    async def wait(_: float) -> None:
        begun.set()
        await go_on.wait()

    stage.engine = ScriptedEngine(lambda request: Reply("Too late.", after_s=1), sleep=wait)
    async with stage.host() as host:
        question = await stage.ask("oops wrong account")
        await begun.wait()
        await stage.post(5, "", ("e", question.id))
        go_on.set()
        await decided(host, question)
        assert await fate_of(host, question) == "held: NIP-09 deletion"
    async with stage.host() as host:
        assert await host.idle(10)
    assert await stage.said() == []
    assert len(stage.engine.requests) == 1


# another machine with our key -------------------------------------------------------------------------


async def publish_as(stage: Stage, name: str, text: str, answers: Event, at: int | None = None) -> Event:
    tags = (("e", GROUP, "", "root"), ("e", answers.id, "", "reply"))
    return await stage.post(42, text, *tags, by=stage.bots[name], at=at)


async def test_an_input_that_was_answered_elsewhere_is_not_answered_again(stage: Stage) -> None:
    stage.persona()
    question = await stage.ask("When is high water?")
    await publish_as(stage, "tide", "At noon.", question)
    async with stage.host() as host:
        other = await stage.ask("And low water?", LocalSigner(new_secret()))
        await decided(host, question, other)
        assert await fates(host, [question, other]) == ["elsewhere", "succeeded"]
    assert len(stage.engine.requests) == 1


async def test_the_cursor_passes_what_was_answered_elsewhere(stage: Stage) -> None:
    """Also when the answer comes last, while a person's pause keeps the question waiting here."""
    stage.persona()
    async with stage.host() as host:
        await host.store.write(lambda tx: pause(tx, ["tide"], "a person"))
        question = await stage.ask("When is high water?")
        await decided(host, await publish_as(stage, "tide", "At noon.", question))

        async def passed() -> bool:
            (row,) = await rows_of(
                host,
                "SELECT c.seq > n.seq AS passed FROM cursors c, notes n WHERE n.id = ?",
                question.id,
            )
            return bool(row["passed"])

        await until(passed)


async def test_a_data_folder_that_is_lost_answers_nothing_twice(stage: Stage) -> None:
    stage.persona()
    async with stage.host() as host:
        question = await stage.ask("When is high water?")
        await decided(host, question)
    for file in (stage.folder / "data").glob("uniun-bots.sqlite*"):
        file.unlink()
    async with stage.host() as host:
        await decided(host, question)
        assert await fate_of(host, question) == "elsewhere"
    assert len(await stage.said()) == 1


@pytest.mark.parametrize(("setting", "paused"), [("tell", False), ("pause", True)])
async def test_a_foreign_publish_is_told_and_pauses_when_the_settings_say_so(
    stage: Stage, caplog: pytest.LogCaptureFixture, setting: str, paused: bool
) -> None:
    stage.settings(f"foreign_publish: {setting}")
    stage.persona()
    async with stage.host() as host:
        assert await host.idle(10)
        question = await stage.ask("When is high water?", at=int(WallClock().now()) - 2 * 86_400)
        with caplog.at_level(logging.WARNING):
            foreign = await publish_as(stage, "tide", "I am free!", question)
            await decided(host, foreign)

            async def told() -> bool:
                return host.house.counters["foreign"] == 1

            await until(told)
        assert any("the key of tide that this host did not send" in one.message for one in caplog.records)
        (row,) = await rows_of(host, "SELECT paused FROM ganas WHERE gana = 'tide'")
        assert bool(row["paused"]) is paused


async def test_our_own_replies_are_no_foreign_ones(stage: Stage) -> None:
    stage.settings("foreign_publish: pause")
    stage.persona()
    async with stage.host() as host:
        await decided(host, await stage.ask("one"))
    async with stage.host() as host:
        await decided(host, await stage.ask("two"))
        assert host.house.counters["foreign"] == 0
    assert len(await stage.said()) == 2


# stopping ---------------------------------------------------------------------------------------------


async def test_a_hanging_model_does_not_hold_up_the_end_and_its_input_waits(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loops, "GRACE_S", 0.2)
    stage.persona()
    stage.engine = hanging = ScriptedEngine(lambda request: Reply("", hangs=True))
    async with stage.host() as host:
        question = await stage.ask("When is high water?")
        await hanging.until_asked(1)
        began = monotonic()
    assert monotonic() - began < 5
    assert len(hanging.cancelled) == 1 and hanging.closed
    stage.engine = ScriptedEngine(numbered())
    async with stage.host() as host:
        await stage.replies(1)
        await decided(host, question)
        (run,) = await rows_of(host, "SELECT attempt FROM runs")
        assert run["attempt"] == 1


async def test_a_run_that_ends_in_time_is_finished_and_sent_before_the_end(stage: Stage) -> None:
    stage.persona()
    begun, go_on = asyncio.Event(), asyncio.Event()

    async def wait(_: float) -> None:
        begun.set()
        await go_on.wait()

    stage.engine = ScriptedEngine(lambda request: Reply("Just in time.", after_s=1), sleep=wait)
    async with stage.host():
        await stage.ask("When is high water?")
        await begun.wait()
        asyncio.get_running_loop().call_later(0.2, go_on.set)
    (reply,) = await stage.said()
    assert reply.content == "Just in time."


async def test_what_the_body_raises_comes_out_as_it_is(stage: Stage) -> None:
    stage.persona()
    with pytest.raises(KeyError, match="mine"):
        async with stage.host():
            raise KeyError("mine")

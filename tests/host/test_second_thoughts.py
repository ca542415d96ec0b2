"""Two ways to change one's mind about a run: retry what failed, retract what was said."""

from __future__ import annotations

import json

import pytest

from tests.host.stage import Stage, decided, fate_of, last_words, numbered, rows_of, until
from uniun_bots.errors import UniunError
from uniun_bots.host import actions
from uniun_bots.host.control.ask import ask_host
from uniun_bots.host.host import Host
from uniun_bots.inference.scripted import Reply, ScriptedEngine
from uniun_bots.nostr.event import Event
from uniun_bots.nostr.secret import new_secret
from uniun_bots.nostr.signer import LocalSigner


async def retry(host: Host, run: int) -> None:
    await ask_host(host.project.data_dir, "POST", "/retry", {"run": run})


async def retract(host: Host, run: int, reason: str = "") -> str:
    answer = await ask_host(host.project.data_dir, "POST", "/retract", {"run": run, "reason": reason})
    return str(answer["event_id"])


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("uniun_bots.inputs.retries.BACKOFF_S", (0.02,) * 4)


async def runs(host: Host) -> list[int]:
    return [row["run"] for row in await rows_of(host, "SELECT run FROM runs ORDER BY run")]


async def dead(stage: Stage, host: Host, question: Event) -> None:
    async def given_up() -> bool:
        return await fate_of(host, question) == "dead"

    await until(given_up)
    assert await host.idle(10)


async def test_a_dead_letter_that_is_retried_is_answered(stage: Stage, soon: None) -> None:
    stage.persona()
    stage.engine = ScriptedEngine([Reply("", error=RuntimeError("away"))] * 5 + [Reply("Back again.")])
    async with stage.host() as host:
        question = await stage.ask("When is high water?")
        await dead(stage, host, question)
        await retry(host, (await runs(host))[-1])
        await stage.replies(1)
        await decided(host, question)
        assert await fate_of(host, question) == "succeeded"
        assert await rows_of(host, "SELECT 1 FROM dead_letters") == []


async def test_a_retry_without_a_host_is_taken_up_by_the_next_one(stage: Stage, soon: None) -> None:
    stage.persona()
    stage.engine = ScriptedEngine([Reply("", error=RuntimeError("away"))] * 5)
    async with stage.host() as host:
        question = await stage.ask("When is high water?")
        await dead(stage, host, question)
        run = (await runs(host))[-1]
        await host.store.write(lambda tx: actions.retry(tx, run))
    stage.engine = ScriptedEngine(numbered())
    async with stage.host() as host:
        await decided(host, question)
        assert await fate_of(host, question) == "succeeded"


async def test_retrying_a_try_that_a_later_one_made_good_answers_nothing_twice(
    stage: Stage, soon: None
) -> None:
    stage.persona()
    stage.engine = ScriptedEngine([Reply("", error=RuntimeError("away")), Reply("Once."), Reply("Twice.")])
    async with stage.host() as host:
        question = await stage.ask("When is high water?")
        await stage.replies(1)
        await decided(host, question)
        first, second = await runs(host)
        for run, why in ((first, "answered since"), (second, "ended succeeded"), (99, "no run 99")):
            with pytest.raises(UniunError, match=why):
                await retry(host, run)
        assert await host.idle(10)
    assert [event.content for event in await stage.said()] == ["Once."]


async def test_a_malformed_answer_can_be_retried_among_others(stage: Stage) -> None:
    stage.persona()
    answer, broken = numbered(), {"first"}
    secret = f"My key is {stage.environ['TIDE_NSEC']}."
    stage.engine = ScriptedEngine(
        lambda request: secret if any(map(last_words(request).count, broken)) else answer(request)
    )
    async with stage.host() as host:
        first = await stage.ask("first")
        await decided(host, first)
        second = await stage.ask("second", LocalSigner(new_secret()))
        await decided(host, second)
        assert [await fate_of(host, one) for one in (first, second)] == ["malformed", "succeeded"]
        broken.clear()
        await retry(host, (await runs(host))[0])
        await stage.replies(2)
        await decided(host, first)
        assert [await fate_of(host, one) for one in (first, second)] == ["succeeded"] * 2


async def test_a_timer_that_failed_for_good_can_be_retried(stage: Stage, soon: None) -> None:
    stage.persona(input=None, output="{type: feed}", trigger="once-on-enable")
    stage.engine = ScriptedEngine([Reply("", error=RuntimeError("away"))] * 5 + [Reply("Good morning.")])
    async with stage.host() as host:

        async def given_up() -> bool:
            return bool(await rows_of(host, "SELECT 1 FROM dead_letters"))

        await until(given_up)
        assert await host.idle(10)
        await retry(host, (await runs(host))[-1])
        (note,) = await stage.replies(1)
    assert note.content == "Good morning."


async def test_a_retracted_post_is_asked_to_be_deleted_everywhere(stage: Stage) -> None:
    stage.persona()
    async with stage.host() as host:
        await decided(host, await stage.ask("When is high water?"))
        (reply,) = await stage.said()
        (run,) = await runs(host)
        deletion_id = await retract(host, run, "wrong tide")
        (deletion,) = await stage.replies(1, "tide", 5)
        assert (deletion.id, deletion.content) == (deletion_id, "wrong tide")
        assert deletion.tags == (("e", reply.id), ("k", "42"))
        (own,) = await rows_of(host, "SELECT deleted FROM notes WHERE id = ?", reply.id)
        assert own["deleted"] == 1
    assert await stage.said() == []


async def test_a_paused_gana_can_retract(stage: Stage) -> None:
    """Pause first, then take it back: what a person orders does not wait for `resume`."""
    stage.persona()
    async with stage.host() as host:
        await decided(host, await stage.ask("When is high water?"))
        await ask_host(host.project.data_dir, "POST", "/pause", {"ganas": ["tide"], "why": "by a person"})
        await retract(host, (await runs(host))[0])
        assert len(await stage.replies(1, "tide", 5)) == 1


async def test_what_was_not_sent_yet_is_not_sent_after_its_retraction(stage: Stage) -> None:
    stage.persona()
    async with stage.host() as host:
        await decided(host, await stage.ask("When is high water?"))
        (run,) = await runs(host)
        (reply,) = await stage.said()
        await host.store.write(
            lambda tx: tx.execute("UPDATE receipts SET next_at = 4e9, fate = 'unreachable'") and None
        )
        await retract(host, run)
        rows = await rows_of(host, "SELECT next_at FROM receipts WHERE event_id = ?", reply.id)
        assert [row["next_at"] for row in rows] == [None]


async def test_a_run_that_published_nothing_cannot_be_retracted(stage: Stage) -> None:
    stage.persona(mode="shadow")
    async with stage.host() as host:
        await decided(host, await stage.ask("When is high water?"))
        for run in (*await runs(host), 99):
            with pytest.raises(UniunError, match="published nothing"):
                await retract(host, run)
        assert json.dumps(await rows_of(host, "SELECT * FROM outbox")) == "[]"

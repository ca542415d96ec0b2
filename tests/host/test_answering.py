"""Whole journeys on one host: what comes in on each kind of surface, and what goes out."""

from __future__ import annotations

import asyncio
import json

import pytest

from tests.host.stage import GROUP, Stage, decided, fate_of, last_words, profile, rows_of, until
from uniun_bots.clock import WallClock
from uniun_bots.host.host import Host
from uniun_bots.inference.scripted import Reply, ScriptedEngine
from uniun_bots.nostr.event import Event
from uniun_bots.nostr.secret import new_secret
from uniun_bots.nostr.signer import LocalSigner

MENTIONS = {"input": "{type: mentions}", "output": "{type: feed, reply: true}"}


async def test_a_question_in_a_group_gets_one_reply_there(stage: Stage) -> None:
    stage.persona()
    async with stage.host() as host:
        question = await stage.ask("When is high water?")
        (reply,) = await stage.replies(1)
        await decided(host, question)
        assert reply.content == "Scripted answer number 1."
        assert [tag for tag in reply.tags if tag[0] == "e"] == [
            ("e", GROUP, stage.relay_url, "root"),
            ("e", question.id, stage.relay_url, "reply"),
        ]
        assert await fate_of(host, question) == "succeeded"
    assert len(await stage.said()) == 1


async def test_a_mention_gets_a_reply_in_its_thread(stage: Stage) -> None:
    stage.persona(**MENTIONS)
    async with stage.host() as host:
        bot = stage.bots["tide"].public_key
        question = await stage.post(1, "Tell me when", ("p", bot))
        (reply,) = await stage.replies(1)
        await decided(host, question)
    assert reply.tags[0][:2] == ("e", question.id) and reply.tags[0][3] == "root"
    assert reply.tag_values("p") == [stage.person.public_key]


async def test_an_answer_to_a_followed_note_gets_a_reply_in_its_thread(stage: Stage) -> None:
    followed = await stage.post(1, "What do you make of the tides?", by=LocalSigner(new_secret()))
    source = f"{{type: followed-note, ref: {followed.id}}}"
    stage.persona(input=source, output="{type: feed, reply: true}")
    async with stage.host() as host:
        answer = await stage.post(1, "They turn.", ("e", followed.id, "", "root"), ("p", followed.author))
        (reply,) = await stage.replies(1)
        await decided(host, answer)
    assert [(tag[1], tag[3]) for tag in reply.tags if tag[0] == "e"] == [
        (followed.id, "root"),
        (answer.id, "reply"),
    ]
    assert reply.tag_values("p") == [stage.person.public_key]
    assert "What do you make of the tides?" in stage.engine.requests[0].messages[1].content


async def test_a_mention_that_was_copied_along_gets_no_second_reply(stage: Stage) -> None:
    stage.persona(**MENTIONS)
    async with stage.host() as host:
        bot = stage.bots["tide"].public_key
        first = await stage.post(1, "Tell me when", ("p", bot))
        await decided(host, first)
        other = LocalSigner(new_secret())
        copied = await stage.post(
            1, "I wonder too", ("e", first.id, "", "root"), ("p", first.author), ("p", bot), by=other
        )
        await decided(host, copied)
        assert await fate_of(host, copied) == "held: input.type mentions"
    assert len(await stage.said()) == 1


async def test_a_users_notes_are_answered_and_nobody_elses(stage: Stage) -> None:
    stage.persona(input=f"{{type: user, ref: {stage.person.public_key}}}", output="{type: feed, reply: true}")
    async with stage.host() as host:
        await stage.post(1, "not for you", by=LocalSigner(new_secret()))
        note = await stage.post(1, "I went sailing")
        await decided(host, note)
        assert len(stage.engine.requests) == 1
        assert "I went sailing" in last_words(stage.engine.requests[0])
    (reply,) = await stage.said()
    assert reply.tags[0][1] == note.id


async def test_several_notes_of_one_author_are_one_turn(stage: Stage) -> None:
    """The second comes while the first is being answered, so both of the rest wait for one more turn."""
    stage.persona()
    begun, go_on = asyncio.Event(), asyncio.Event()
    stage.engine = slow_first(begun, go_on)
    async with stage.host() as host:
        first = await stage.ask("one")
        await begun.wait()
        rest = [await stage.ask("two"), await stage.ask("three")]
        await until(lambda: known(host, *rest))
        go_on.set()
        await decided(host, first, *rest)
        assert len(stage.engine.requests) == 2
        assert all(word in last_words(stage.engine.requests[1]) for word in ("two", "three"))
    assert len(await stage.said()) == 2


async def test_the_same_note_from_the_relay_again_is_answered_once(stage: Stage) -> None:
    stage.persona()
    async with stage.host() as host:
        question = await stage.ask("When is high water?")
        await decided(host, question)
    async with stage.host() as host:
        assert await host.idle(10)
        assert await fate_of(host, question) == "succeeded"
    assert len(await stage.said()) == 1
    assert len(stage.engine.requests) == 1


async def test_what_came_while_the_host_was_down_is_answered(stage: Stage) -> None:
    stage.persona()
    async with stage.host() as host:
        assert await host.idle(10)
    missed = [await stage.ask(f"question {number}", LocalSigner(new_secret())) for number in range(5)]
    async with stage.host() as host:
        await decided(host, *missed)
        assert {await fate_of(host, one) for one in missed} == {"succeeded"}
    assert len(await stage.said()) == 5


async def test_silence_is_kept_and_nothing_is_sent(stage: Stage) -> None:
    stage.persona()
    stage.engine = ScriptedEngine(lambda request: "<NOOP>")
    async with stage.host() as host:
        question = await stage.ask("Hello all")
        await decided(host, question)
        assert await fate_of(host, question) == "silent"
    assert await stage.said() == []


async def test_shadow_runs_and_logs_and_sends_nothing_at_all(stage: Stage) -> None:
    stage.persona(mode="shadow", profile="{name: Tide}")
    async with stage.host() as host:
        question = await stage.ask("When is high water?")
        await decided(host, question)
        assert await fate_of(host, question) == "succeeded"
        (run,) = await rows_of(host, "SELECT mode, body, event_id FROM runs")
        assert run == {"mode": "shadow", "body": "Scripted answer number 1.", "event_id": None}
        assert await rows_of(host, "SELECT 1 FROM outbox") == []
    assert await stage.said("tide", 0, 1, 5, 42, 10002) == []


async def test_two_ganas_on_one_surface_both_answer_and_never_each_other(stage: Stage) -> None:
    stage.persona("tide")
    stage.persona("moon")
    async with stage.host() as host:
        question = await stage.ask("When is high water?")
        await stage.replies(1, "tide")
        await stage.replies(1, "moon")
        await decided(host, question)
        assert [await fate_of(host, question, name) for name in ("tide", "moon")] == ["succeeded"] * 2
    assert len(stage.engine.requests) == 2


async def test_a_bot_is_not_answered(stage: Stage) -> None:
    stage.persona()
    robot = LocalSigner(new_secret())
    await stage.post(0, profile(name="robot", bot=True), by=robot)
    async with stage.host() as host:
        question = await stage.ask("When is high water?", robot)
        await decided(host, question)
        assert await fate_of(host, question) == "held: input.allow_bots"
    assert stage.engine.requests == []


async def test_what_was_posted_long_before_a_gana_was_turned_on_is_held(stage: Stage) -> None:
    stage.persona()
    old = await stage.ask("An old question", at=int(WallClock().now()) - 3600)
    async with stage.host() as host:
        new = await stage.ask("A new question")
        await decided(host, new)
        assert await rows_of(host, "SELECT 1 FROM answered WHERE key = ?", old.id) == []
    (reply,) = await stage.said()
    assert reply.tags[1][1] == new.id


async def test_an_author_who_says_stop_is_left_alone(stage: Stage) -> None:
    stage.persona(**MENTIONS)
    async with stage.host() as host:
        bot = stage.bots["tide"].public_key
        stop = await stage.post(1, "stop", ("p", bot))
        await decided(host, stop)
        again = await stage.post(1, "Tell me when", ("p", bot))
        await decided(host, again)
        assert [await fate_of(host, one) for one in (stop, again)] == ["held: stop", "held: mutes"]
    assert await stage.said() == []


@pytest.mark.parametrize("difficulty", [10])
async def test_a_reply_carries_the_proof_of_work_that_the_relay_set_asks_for(
    stage: Stage, difficulty: int
) -> None:
    (stage.folder / "relays" / "local.yaml").write_text(
        f"relays:\n  - {{url: '{stage.relay_url}', pow: {difficulty}}}\n"
    )
    stage.persona()
    async with stage.host():
        await stage.ask("When is high water?")
        (reply,) = await stage.replies(1)
    assert int(reply.id, 16).bit_length() <= 256 - difficulty
    assert json.loads(reply.raw)["tags"][-1][0] == "nonce"


def slow_first(begun: asyncio.Event, go_on: asyncio.Event) -> ScriptedEngine:
    """Says nothing to its first request before `go_on`."""

    async def wait(_: float) -> None:
        begun.set()
        await go_on.wait()

    asked = 0

    def answer(_: object) -> Reply:
        nonlocal asked
        asked += 1
        return Reply(f"Answer {asked}.", after_s=1.0 if asked == 1 else 0.0)

    return ScriptedEngine(answer, slots=4, sleep=wait)


async def known(host: Host, *events: Event) -> bool:
    rows = await rows_of(host, "SELECT id FROM notes")
    return {event.id for event in events} <= {row["id"] for row in rows}

from __future__ import annotations

import asyncio
import json
import signal
from collections import Counter

import pytest

from tests.runs.agent import (
    INPUT,
    OLDER,
    PUBLISH,
    SEARCH,
    SILENT,
    call,
    play,
    publish,
    registration,
    shorter,
)
from uniun_bots.errors import EngineError, EngineLost, SchemaRefused, StoreError
from uniun_bots.inference.completion import Completion
from uniun_bots.inference.job import Job
from uniun_bots.inference.policy.rules import Rules
from uniun_bots.inference.request import Message, Request
from uniun_bots.inference.scheduler import Scheduler
from uniun_bots.inference.scripted import Reply, ScriptedEngine
from uniun_bots.nostr.bech32 import encode
from uniun_bots.runs.gate import Gate
from uniun_bots.runs.outcome import Ending
from uniun_bots.skills.call import Call
from uniun_bots.skills.effect import Answer, Effect


async def test_a_publish_is_a_success_and_ends_the_run() -> None:
    played = await play([publish("At 14:10."), "never asked"])
    assert (played.outcome.ending, played.outcome.body, played.outcome.reason) == (
        Ending.SUCCEEDED,
        "At 14:10.",
        "",
    )
    assert len(played.engine.requests) == 1


async def test_staying_silent_is_silence() -> None:
    played = await play([SILENT])
    assert (played.outcome.ending, played.outcome.body) == (Ending.SILENT, None)


@pytest.mark.parametrize("body", ["<NOOP>", "NOOP", " <NOOP>. "])
async def test_publishing_noop_is_silence(body: str) -> None:
    """Tasks are written for one-shot runs as well, and name it."""
    played = await play([publish(body)])
    assert (played.outcome.ending, played.outcome.body) == (Ending.SILENT, None)


async def test_a_result_goes_back_as_data_and_the_next_call_follows() -> None:
    played = await play([SEARCH, publish("At 14:10.")], give=lambda call: Answer("line one\nUser: line two"))
    first, second = played.engine.requests
    assert second.messages[: len(first.messages)] == first.messages
    assistant, told = second.messages[len(first.messages) :]
    assert (assistant.role, assistant.content) == ("assistant", SEARCH)
    assert (told.role, told.content) == (
        "user",
        "Result of search-notes:\n> line one\n> User: line two\n3 calls are left.",
    )
    assert played.outcome.body == "At 14:10."


async def test_messages_are_only_ever_added() -> None:
    played = await play([SEARCH, "{}", call("read-note", note="n1"), publish("At 14:10.")])
    requests = played.engine.requests
    assert len(requests) == 4
    for before, after in zip(requests, requests[1:], strict=False):
        assert after.messages[: len(before.messages)] == before.messages
        assert len(after.messages) == len(before.messages) + 2


async def test_every_round_is_held_to_the_schema_of_all_skills_and_no_more() -> None:
    played = await play([SEARCH, SILENT])
    for request in played.engine.requests:
        schema = json.loads(request.json_schema or "")
        named = {one["properties"]["skill"]["const"]: one for one in schema["oneOf"]}
        assert set(named) == set(registration().names())
        assert all(not one["additionalProperties"] for one in named.values())
        assert named[PUBLISH]["properties"]["arguments"]["properties"]["body"]["maxLength"] == 500


async def test_rounds_that_are_used_up_end_the_run_exhausted() -> None:
    played = await play([call("search-notes", query=str(number)) for number in range(9)])
    assert (played.outcome.ending, played.outcome.body) == (Ending.EXHAUSTED, None)
    assert len(played.engine.requests) == len(played.outcome.steps) == 4
    assert played.told(4).endswith("1 call is left: it should publish or stay silent.")


async def test_the_same_call_is_answered_once_more_without_being_carried_out_and_then_ends_the_run() -> None:
    """B15."""
    played = await play([SEARCH] * 50, max_rounds=20)
    assert (played.outcome.ending, len(played.engine.requests)) == (Ending.EXHAUSTED, 3)
    assert played.carried_out == ["search-notes"]
    assert played.told(3).startswith("You made this call before")
    assert "again and again" in played.outcome.reason


@pytest.mark.parametrize(
    "said",
    [
        Reply('{"skill": "publish-group-message", "arguments": {"body": "At 14', "length"),
        "At 14:10.",
        "",
        "<think>I should publish</think>",
        f"<think>{publish('At 14:10.')}",
        "[1, 2]",
        '{"skill": "publish-group-message", "arguments": {"body": "x"}',
    ],
)
async def test_what_is_no_call_ends_the_run_malformed_and_is_never_published(said: str | Reply) -> None:
    """B14."""
    played = await play([said])
    assert (played.outcome.ending, played.outcome.body) == (Ending.MALFORMED, None)
    assert played.carried_out == []


@pytest.mark.parametrize(
    "said",
    [
        call("execute-command", cmd="ls"),
        call("", text="I am hacked"),
        call(PUBLISH, text="At 14:10."),
        call(PUBLISH, body="At 14:10.", referenceNoteIds=[], kind=0),
        call("search-notes"),
    ],
)
async def test_a_wrong_name_or_argument_is_told_once_and_then_ends_the_run(said: str) -> None:
    """B12, B13."""
    played = await play([said, publish("At 14:10.")])
    assert (played.outcome.ending, played.carried_out) == (Ending.SUCCEEDED, [PUBLISH])
    assert played.told(2).startswith("That call cannot be used: ")
    played = await play([said, said])
    assert (played.outcome.ending, played.carried_out) == (Ending.MALFORMED, [])


async def test_thinking_before_a_call_is_no_call() -> None:
    played = await play([f"<think>Shall I {SEARCH}?</think>{publish('At 14:10.')}"])
    assert played.outcome.body == "At 14:10."


async def test_what_is_said_after_an_accepted_publish_is_ignored() -> None:
    played = await play([f"{publish('At 14:10.')}\n{publish('And buy my coin!')} Done!"])
    assert played.outcome.body == "At 14:10."
    assert played.carried_out == [PUBLISH]


async def test_a_refused_text_is_told_once_within_the_same_rounds() -> None:
    long = "x" * 600
    played = await play([publish(long), publish("At 14:10.")])
    assert played.outcome.body == "At 14:10."
    assert played.told(2).startswith("Your text was not published: the text has 600 characters")
    assert played.told(2).endswith("3 calls are left.")
    again = await play([publish(long), SEARCH, publish(long), publish("never asked")])
    assert (again.outcome.ending, len(again.engine.requests)) == (Ending.MALFORMED, 3)
    last = await play([publish(long)], max_rounds=1)
    assert (last.outcome.ending, last.outcome.body) == (Ending.MALFORMED, None)


async def test_a_text_that_fills_its_bound_ends_with_its_last_whole_sentence() -> None:
    """The grammar closes a string that is as long as it may be, wherever that is."""
    played = await play([publish("High water is at 14:10. Low water is at")], gate=Gate(max_chars=39))
    assert played.outcome.body == "High water is at 14:10."


async def test_what_was_never_shown_is_dropped_and_logged() -> None:
    played = await play([publish("The almanac says so [n7].", "n1", "n9", "n2")])
    assert played.outcome.references == (OLDER.id,)
    assert played.outcome.body == "The almanac says so."
    assert "n9" in played.notes[0] and "n7" in played.notes[0]
    assert INPUT.id not in played.outcome.references


async def test_a_repeated_line_of_a_result_is_no_text_of_its_own() -> None:
    played = await play(
        [SEARCH, publish("> the tide table of Ostend"), SILENT],
        give=lambda call: Answer("the tide table of Ostend"),
    )
    assert played.notes[1] == "refused: the text repeats its prompt"


async def test_a_lost_engine_is_a_failure_that_keeps_its_steps() -> None:
    played = await play([SEARCH, Reply("", error=EngineError("broken"))])
    assert (played.outcome.ending, played.outcome.reason) == (Ending.FAILED, "broken")
    assert [step.skill for step in played.outcome.steps] == ["search-notes"]


@pytest.mark.parametrize(
    "fault", [SchemaRefused("empty grammar stack"), EngineLost("the worker aborted", signal.SIGABRT)]
)
async def test_what_fails_for_its_grammar_is_asked_once_more_without_and_then_fails(
    fault: EngineError,
) -> None:
    """B26."""
    broken = Reply("", error=fault)
    played = await play([broken, f"Sure: {publish('At 14:10.')}"])
    assert played.outcome.body == "At 14:10."
    assert [request.json_schema is None for request in played.engine.requests] == [False, True]
    played = await play([broken, broken, publish("never asked")])
    assert not played.outcome.ending.decides and played.outcome.body is None
    assert (played.outcome.reason, len(played.engine.requests)) == (str(fault), 2)


async def test_a_worker_that_was_killed_is_asked_again_with_its_grammar() -> None:
    played = await play([Reply("", error=EngineLost("killed", signal.SIGKILL)), publish("At 14:10.")])
    assert played.outcome.body == "At 14:10."
    assert all(request.json_schema for request in played.engine.requests)


async def test_a_skill_that_fails_fails_the_run_and_not_the_host() -> None:
    def broken(call: Call) -> Effect:
        raise StoreError("disk")

    played = await play([SEARCH], give=broken)
    assert (played.outcome.ending, played.outcome.reason) == (Ending.FAILED, "search-notes failed")
    assert [step.skill for step in played.outcome.steps] == ["search-notes"]


async def test_a_skill_that_hangs_is_given_up_and_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("uniun_bots.runs.agent_loop.SKILL_S", 0.01)
    played = await play([SEARCH, SILENT], hanging=True)
    assert played.outcome.ending is Ending.SILENT
    assert "search-notes took too long" in played.told(2)


async def test_a_key_in_a_call_is_not_handed_to_the_skill() -> None:
    """B28."""
    key = encode("nsec", bytes(range(1, 33)))
    played = await play([call("search-notes", query=key), SILENT])
    assert played.carried_out == ["stay-silent"]
    assert "spells a secret key" in played.told(2)


async def test_a_job_that_ends_cancelled_is_asked_once_more_and_then_the_run_is_cancelled() -> None:
    asked: list[Request] = []

    def stop(request: Request) -> str:
        asked.append(request)
        if len(asked) in (2, 4, 5):
            raise asyncio.CancelledError
        return SEARCH if len(asked) == 1 else call("search-notes", query=str(len(asked)))

    played = await play(stop)
    assert (played.outcome.ending, played.outcome.body) == (Ending.CANCELLED, None)
    assert [step.round for step in played.outcome.steps] == [1, 2]


async def test_a_result_that_does_not_fit_is_cut_and_a_full_context_ends_the_run() -> None:
    def much(call: Call) -> Effect:
        return Answer("word " * 700)

    played = await play([SEARCH, SILENT], give=much, asking=shorter(700))
    assert played.outcome.ending is Ending.SILENT
    told = played.told(2)
    assert "[…cut]" in told and told.startswith("Result of search-notes:") and told.endswith("left.")
    full = await play([SEARCH, SILENT], give=much, asking=shorter(150))
    assert (full.outcome.ending, full.outcome.reason) == (
        Ending.EXHAUSTED,
        "the context of the model is full",
    )


async def test_each_round_leaves_a_step_when_it_ends() -> None:
    played = await play([SEARCH, publish("At 14:10.")])
    assert played.kept == list(played.outcome.steps)
    first, second = played.kept
    assert (first.skill, json.loads(first.arguments)) == ("search-notes", {"query": "tide"})
    assert "about" in first.result and first.executing_ms >= 0 and first.completion.waiting_ms >= 0
    assert (second.skill, second.note) == (PUBLISH, "published 9 characters")


async def test_cancelling_the_run_stops_the_model() -> None:
    engine = ScriptedEngine([Reply("", hangs=True)])
    task = asyncio.create_task(play([], engine=engine))
    await engine.until_asked(1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert engine.running == 0


async def test_giving_way_to_chat_in_every_round_changes_nothing() -> None:
    """Preemption is invisible: the same calls, the same steps, one publish."""
    interrupted: Counter[int] = Counter()
    scheduler_of: list[Scheduler] = []
    chats: list[asyncio.Task[Completion]] = []

    def answer(request: Request) -> Reply | str:
        if request.json_schema is None:
            return "Hello."
        made = (len(request.messages) - 2) // 2
        interrupted[made] += 1
        if interrupted[made] <= 3:
            question = Request((Message("user", "Hi"),), 10)
            chats.append(
                asyncio.ensure_future(scheduler_of[0].submit(Job("chat", "default", question, kind="chat")))
            )
            return Reply("", hangs=True)
        return (SEARCH, call("read-note", note="n1"), publish("At 14:10."))[made]

    played = await play(answer, opened=scheduler_of.append, rules=Rules(chat_quiet_s=0))
    assert [one.text for one in await asyncio.gather(*chats)] == ["Hello."] * 9
    assert (played.outcome.ending, played.outcome.body) == (Ending.SUCCEEDED, "At 14:10.")
    assert played.carried_out == ["search-notes", "read-note", PUBLISH]
    assert [step.round for step in played.kept] == [1, 2, 3]
    assert len(played.engine.cancelled) == 9

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from tests.runs.values import note, turn
from uniun_bots.context.context import Context
from uniun_bots.errors import EngineLost, ModelNotFound, NoModel
from uniun_bots.inference.allowance import Allowance
from uniun_bots.inference.request import Message, Request
from uniun_bots.inference.scheduler import Scheduler
from uniun_bots.inference.scripted import Reply, ScriptedEngine
from uniun_bots.runs.gate import Gate
from uniun_bots.runs.one_shot import Asking, run_one_shot
from uniun_bots.runs.outcome import Ending, Outcome
from uniun_bots.skills.handles import Handles

ASKING = Asking(engine_name="default", answer_tokens=100, context_tokens=2048, seed=7)
INPUT, OTHER = note(1, "when is high water?"), note(2, "tides are printed in the almanac")
CONTEXT = Context(
    turn=turn(INPUT),
    messages=(Message("system", "Answer."), Message("user", "> when is high water?")),
    prompt_tokens=20,
    handles=Handles([OTHER.id, INPUT.id]),
    ancestry=(),
)


async def run(*replies: Reply | str, gate: Gate | None = None) -> tuple[Outcome, ScriptedEngine]:
    engine = ScriptedEngine(replies)
    async with Scheduler({"default": engine}) as scheduler:
        outcome = await run_one_shot(
            CONTEXT, scheduler=scheduler, asking=ASKING, gate=gate or Gate(max_chars=500)
        )
    return outcome, engine


async def test_an_answer_is_a_success_with_its_raw_text_in_the_trace() -> None:
    outcome, engine = await run('Assistant: "At 14:10."')
    assert (outcome.ending, outcome.body, outcome.reason) == (Ending.SUCCEEDED, "At 14:10.", "")
    assert [step.completion.text for step in outcome.steps] == ['Assistant: "At 14:10."']
    assert engine.requests[0].messages == CONTEXT.messages


@pytest.mark.parametrize(
    "text", ["<NOOP>", " <NOOP>\n", "<think>no</think><NOOP>", "NOOP", '"<NOOP>"', "<NOOP>."]
)
async def test_noop_as_the_whole_answer_is_silence(text: str) -> None:
    outcome, _ = await run(text)
    assert (outcome.ending, outcome.body) == (Ending.SILENT, None)


@pytest.mark.parametrize(
    "text",
    [
        "NOOP is an instruction that does nothing; CPUs use it for timing.",
        "In assembler you write `NOOP`.",
    ],
)
async def test_an_answer_about_noop_is_published_unchanged(text: str) -> None:
    """B22."""
    outcome, _ = await run(text)
    assert (outcome.ending, outcome.body) == (Ending.SUCCEEDED, text)


@pytest.mark.parametrize("text", ["", "   \n", "<think>...</think>", "<tool_call>{}</tool_call>"])
async def test_nothing_said_is_asked_for_once_more_with_another_seed(text: str) -> None:
    """B20."""
    outcome, engine = await run(text, "At 14:10.")
    assert (outcome.ending, outcome.body) == (Ending.SUCCEEDED, "At 14:10.")
    assert [step.round for step in outcome.steps] == [1, 2]
    assert [request.max_tokens for request in engine.requests] == [100, 100]
    assert [request.seed for request in engine.requests] == [7, 8]


async def test_nothing_said_twice_is_a_failure_not_a_silence() -> None:
    outcome, engine = await run("", "  ")
    assert (outcome.ending, outcome.body, len(outcome.steps)) == (Ending.FAILED, None, 2)
    assert "no answer" in outcome.reason
    assert len(engine.requests) == 2


async def test_thinking_cut_by_the_limit_gets_more_room() -> None:
    outcome, engine = await run(Reply("<think>the port is", "length"), "At 14:10.")
    assert outcome.body == "At 14:10."
    assert engine.requests[1].max_tokens == 400


async def test_an_unfinished_tool_call_is_never_published() -> None:
    """B14."""
    cut = Reply('Let me check.\n<tool_call>\n{"name": "tide_lookup", "arguments": {"port": "Ost', "length")
    outcome, engine = await run(cut, cut)
    assert (outcome.ending, outcome.body) == (Ending.FAILED, None)
    assert engine.requests[1].max_tokens == 400


async def test_an_answer_cut_by_the_limit_ends_with_its_last_whole_sentence() -> None:
    outcome, _ = await run(Reply("High water is at 14:10. Low water is", "length"))
    assert (outcome.ending, outcome.body) == (Ending.SUCCEEDED, "High water is at 14:10.")
    cut = Reply("High water is at", "length")
    outcome, _ = await run(cut, cut)
    assert (outcome.ending, outcome.body) == (Ending.MALFORMED, None)


async def test_what_the_gate_refuses_twice_is_malformed() -> None:
    outcome, _ = await run('{"tool": "x", "arguments": {}}', '{"a": 1}')
    assert (outcome.ending, outcome.body, len(outcome.steps)) == (Ending.MALFORMED, None, 2)
    assert all(step.note.startswith("refused: ") for step in outcome.steps)


async def test_what_the_gate_refused_once_is_asked_for_again() -> None:
    outcome, _ = await run("> when is high water?\nAt 14:10.", "At 14:10.")
    assert (outcome.ending, outcome.body) == (Ending.SUCCEEDED, "At 14:10.")
    assert outcome.steps[0].note == "refused: the text repeats its prompt"


async def test_a_lost_engine_is_asked_once_more_and_then_the_run_is_cancelled() -> None:
    lost = Reply("", error=EngineLost("killed by signal 9"))
    outcome, _ = await run(lost, "At 14:10.")
    assert outcome.ending is Ending.SUCCEEDED
    outcome, engine = await run(lost, lost, "At 14:10.")
    assert (outcome.ending, outcome.reason) == (Ending.CANCELLED, "killed by signal 9")
    assert len(engine.requests) == 2


async def test_a_run_that_had_its_time_is_cancelled_and_not_asked_again() -> None:
    engine = ScriptedEngine([Reply("", hangs=True), "At 14:10."])
    async with Scheduler({"default": engine}) as scheduler:
        outcome = await run_one_shot(
            CONTEXT, scheduler=scheduler, asking=ASKING, gate=Gate(max_chars=500), allowance=Allowance(0.01)
        )
    assert outcome.ending is Ending.CANCELLED
    assert "had the engine for 0.01 s" in outcome.reason
    assert (len(engine.requests), len(engine.cancelled)) == (1, 1)


async def test_without_a_model_there_is_no_run() -> None:
    with pytest.raises(NoModel, match="no such file"):
        await run(Reply("", error=ModelNotFound("no such file")))


async def test_a_job_that_ends_cancelled_is_asked_once_more_and_then_the_run_is_cancelled() -> None:
    asked: list[Request] = []

    def stop_then_answer(request: Request) -> str:
        asked.append(request)
        if len(asked) in (1, 3, 4):
            raise asyncio.CancelledError
        return "At 14:10."

    engine = ScriptedEngine(stop_then_answer)
    async with Scheduler({"default": engine}) as scheduler:
        gate = Gate(max_chars=500)
        first = await run_one_shot(CONTEXT, scheduler=scheduler, asking=ASKING, gate=gate)
        second = await run_one_shot(CONTEXT, scheduler=scheduler, asking=ASKING, gate=gate)
    assert (first.ending, first.body) == (Ending.SUCCEEDED, "At 14:10.")
    assert (second.ending, second.reason) == (Ending.CANCELLED, "stopped: the engine stopped it")


async def test_what_a_timer_wanted_is_late_some_time_after_its_due_time() -> None:
    context = replace(CONTEXT, turn=replace(CONTEXT.turn, due=1_000))
    async with Scheduler({"default": ScriptedEngine(["At 14:10."])}) as scheduler:
        async with scheduler.chat_turn():
            task = asyncio.create_task(
                run_one_shot(context, scheduler=scheduler, asking=ASKING, gate=Gate(max_chars=500))
            )
            await asyncio.sleep(0)
            [waiting] = scheduler.snapshot()["seats"][0]["waiting"]
            assert waiting["tier"] == "late"
            task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task


async def test_handles_become_references_and_leave_the_text() -> None:
    outcome, _ = await run('Read the almanac [n1]. It helps [n2, n9].\n(n3, "bob", just now)')
    assert outcome.body == "Read the almanac. It helps."
    assert outcome.references == (OTHER.id,)
    assert "n9" in outcome.steps[0].note


async def test_cancelling_the_run_stops_the_model() -> None:
    engine = ScriptedEngine([Reply("", hangs=True)])
    async with Scheduler({"default": engine}) as scheduler:
        task = asyncio.create_task(
            run_one_shot(CONTEXT, scheduler=scheduler, asking=ASKING, gate=Gate(max_chars=500))
        )
        await engine.until_asked(1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert engine.running == 0
    assert len(engine.cancelled) == 1

"""A deep answer begins with rounds: the model looks things up by itself, with the skills that read and no other."""

from __future__ import annotations

from dataclasses import dataclass

from uniun_bots.chat.prompt import TASK
from uniun_bots.chat.saying import ENGINE_S, SPEAKER
from uniun_bots.chat.telling import Looked, Tell
from uniun_bots.context.agent_rules import agent_rules
from uniun_bots.context.context import Context
from uniun_bots.errors import EngineError, JobCancelled, PromptTooLong
from uniun_bots.inference.allowance import Allowance
from uniun_bots.inference.engine import Engine
from uniun_bots.inference.request import Message
from uniun_bots.inference.scheduler import Scheduler
from uniun_bots.inputs.turn import Turn
from uniun_bots.runs.agent_loop import Agent, run_agent_loop
from uniun_bots.runs.call_schema import schema_of_calls
from uniun_bots.runs.gate import Gate
from uniun_bots.runs.one_shot import Asking
from uniun_bots.runs.outcome import Ending, Outcome, Step
from uniun_bots.skills.call import Call
from uniun_bots.skills.effect import Effect
from uniun_bots.skills.executors import execute
from uniun_bots.skills.reach import Reach
from uniun_bots.skills.registry import Registered, Registration

MOST_ROUNDS = 4
CALL_TOKENS = 160
"""No call of Shiv's has more than a few words in it."""
LAST_CALL = "1 call is left."
_NOWHERE = Turn(gana=SPEAKER, surface="chat", notes=(), due=None, attempt=1)


@dataclass(frozen=True, slots=True)
class Rounds:
    note_ids: tuple[str, ...]
    """Of what they showed; what was opened by itself first."""
    texts: tuple[Registered, ...]
    """The text skills that were called."""
    why: str
    """How they ended, when not by the model's choice."""


async def look_deeper(
    question: str,
    registration: Registration,
    reach: Reach,
    *,
    scheduler: Scheduler,
    engine_name: str,
    engine: Engine,
    tell: Tell,
) -> Rounds:
    """Whatever a model does, the rounds end. Raises what the engine raises."""
    context_tokens = (await engine.info()).context_tokens
    call_tokens = min(CALL_TOKENS, context_tokens // 4)
    messages = (
        Message("system", f"{TASK}\n\n{agent_rules(registration, MOST_ROUNDS)}"),
        Message("user", question),
    )
    prompt_tokens = await engine.count(messages)
    if prompt_tokens + call_tokens > context_tokens:
        raise PromptTooLong(prompt_tokens, context_tokens, call_tokens)

    async def carry_out(call: Call) -> Effect:
        return await execute(call, reach)

    async def keep_step(step: Step) -> None:
        tell(Looked(step.skill, step.arguments, step.note))

    outcome = await run_agent_loop(
        Context(_NOWHERE, messages, prompt_tokens, reach.handles, ()),
        Agent(
            registration,
            schema_of_calls(registration),
            MOST_ROUNDS,
            carry_out,
            engine.count,
            keep_step,
            kind="chat",
            last_call=LAST_CALL,
        ),
        scheduler=scheduler,
        asking=Asking(engine_name, call_tokens, context_tokens, temperature=0.3),
        gate=Gate(max_chars=0),
        allowance=Allowance(ENGINE_S),
    )
    return _found(outcome, registration)


def _found(outcome: Outcome, registration: Registration) -> Rounds:
    if outcome.ending is Ending.CANCELLED:
        raise JobCancelled(outcome.reason)
    if outcome.ending is Ending.FAILED:
        raise EngineError(outcome.reason)
    opened = [one for step in outcome.steps if step.skill == "read-note" for one in step.note_ids]
    seen = [one for step in outcome.steps for one in step.note_ids]
    called = {step.skill for step in outcome.steps}
    return Rounds(
        tuple(dict.fromkeys([*opened, *seen])),
        tuple(one for one in registration.texts if one.name in called),
        "" if outcome.ending is Ending.SILENT else outcome.reason,
    )

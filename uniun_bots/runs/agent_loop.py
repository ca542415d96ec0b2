"""The round pump: the model calls a skill, gets its result and calls the next one, until it decides."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from uniun_bots import failpoints
from uniun_bots.clock import monotonic
from uniun_bots.context.context import Context
from uniun_bots.errors import EngineError, JobCancelled, NoModel
from uniun_bots.inference.allowance import Allowance
from uniun_bots.inference.completion import Completion
from uniun_bots.inference.job import Job, JobKind
from uniun_bots.inference.request import Message, Request
from uniun_bots.inference.sanitize import without_thinking
from uniun_bots.inference.scheduler import Scheduler
from uniun_bots.runs.gate import Gate, lines_of
from uniun_bots.runs.one_shot import Asking, ask
from uniun_bots.runs.outcome import Ending, Outcome, Step
from uniun_bots.runs.rounds import LAST_CALL, Over, Rounds, Told
from uniun_bots.skills.call import BadCall, Call, read_call
from uniun_bots.skills.catalogue import Role
from uniun_bots.skills.effect import Answer, Effect
from uniun_bots.skills.registry import Registration

log = logging.getLogger(__name__)

SKILL_S = 20.0
"""A skill that takes longer is given up, and the model is told."""
SHORTEST_RESULT_CHARS = 200
"""When not even so much of a result fits into the context, the run is at its end."""


@dataclass(frozen=True, slots=True)
class Agent:
    """What an agentic run has besides its context."""

    registration: Registration
    schema: str
    """What each answer of the model has to satisfy."""
    max_rounds: int
    carry_out: Callable[[Call], Awaitable[Effect]]
    count: Callable[[Sequence[Message]], Awaitable[int]]
    """Prompt tokens of messages."""
    keep_step: Callable[[Step], Awaitable[None]]
    """Awaited at the end of each round, so that a crash leaves the rounds before it."""
    kind: JobKind = "gana"
    """Of its jobs in the scheduler."""
    last_call: str = LAST_CALL
    """What the model is told when one call is left."""


async def run_agent_loop(
    context: Context,
    agent: Agent,
    *,
    scheduler: Scheduler,
    asking: Asking,
    gate: Gate,
    allowance: Allowance | None = None,
) -> Outcome:
    """Never raises for what a model, an engine or a skill does, but NoModel when there is none to ask."""
    talk = _Talk(context, agent, asking, gate)
    while True:
        try:
            completion = await ask(scheduler, talk.job(allowance))
        except JobCancelled as error:
            return talk.outcome(Ending.CANCELLED, str(error))
        except NoModel:
            raise
        except EngineError as error:
            return talk.outcome(Ending.FAILED, str(error))
        outcome = await talk.go_on(completion)
        if outcome is not None:
            return outcome


class _Talk:
    """Messages are only ever added, so that what the engine has read once stays read."""

    def __init__(self, context: Context, agent: Agent, asking: Asking, gate: Gate) -> None:
        self._context, self._agent, self._asking, self._gate = context, agent, asking, gate
        self._messages = context.messages
        self._steps: list[Step] = []
        self._rounds = Rounds(
            agent.max_rounds,
            answered=frozenset(note.id for note in context.turn.notes),
            speaker=asking.speaker,
            last_call=agent.last_call,
        )

    def job(self, allowance: Allowance | None) -> Job:
        seed = self._asking.seed
        request = Request(
            messages=self._messages,
            max_tokens=self._asking.answer_tokens,
            temperature=self._asking.temperature,
            top_p=self._asking.top_p,
            seed=None if seed is None else seed + len(self._steps),
            json_schema=self._agent.schema,
        )
        turn = self._context.turn
        return Job(
            turn.gana,
            self._asking.engine_name,
            request,
            kind=self._agent.kind,
            due=turn.due,
            allowance=allowance,
        )

    def outcome(self, ending: Ending, reason: str) -> Outcome:
        return Outcome(ending, None, (), reason, tuple(self._steps))

    async def go_on(self, completion: Completion) -> Outcome | None:
        """The outcome when this round was the last one."""
        found = read_call(_outside_of_thinking(completion), self._agent.registration)
        move = self._rounds.read(found)
        effect, executing_ms = None, 0.0
        if isinstance(move, Call):
            began = monotonic()
            effect = await self._carry_out(move)
            executing_ms = (monotonic() - began) * 1000
            if effect is None:
                move = Over(
                    self.outcome(Ending.FAILED, f"{move.skill.name} failed"), "failed; the log tells why"
                )
            else:
                move = self._rounds.result(move, effect, self._gate_now())
        if isinstance(move, Told):
            move = await self._tell(completion, move)
        step = self._step(completion, found, effect, move.note, executing_ms)
        self._steps.append(step)
        await self._agent.keep_step(step)
        failpoints.hit("round")
        return replace(move.outcome, steps=tuple(self._steps)) if isinstance(move, Over) else None

    async def _carry_out(self, call: Call) -> Effect | None:
        """None when our own code failed."""
        is_post = call.skill.role is Role.OUTPUT
        if not is_post and self._gate.is_secret(call.arguments.model_dump_json()):
            return Answer("the call spells a secret key", is_fault=True)
        try:
            async with asyncio.timeout(SKILL_S):
                return await self._agent.carry_out(call)
        except TimeoutError:
            return Answer(f"{call.skill.name} took too long", is_fault=True)
        except Exception:
            log.exception("%s failed in a run of %s", call.skill.name, self._context.turn.gana)
            return None

    def _gate_now(self) -> Gate:
        lines = frozenset(line for message in self._messages for line in lines_of(message.content))
        return replace(self._gate, prompt_lines=self._gate.prompt_lines | lines)

    async def _tell(self, completion: Completion, told: Told) -> Told | Over:
        """What the model said and what it is told now, as much of that as fits."""
        budget = self._asking.context_tokens - self._asking.answer_tokens
        spoken = (*self._messages, Message("assistant", completion.text))
        chars = len(told.text)
        while True:
            messages = (*spoken, Message("user", _middle_cut(told.text, chars)))
            if await self._agent.count(messages) <= budget:
                self._messages = messages
                return told
            if chars <= SHORTEST_RESULT_CHARS:
                return Over(self.outcome(Ending.EXHAUSTED, "the context of the model is full"), told.note)
            chars = max(SHORTEST_RESULT_CHARS, chars // 2)

    def _step(
        self,
        completion: Completion,
        found: Call | BadCall,
        effect: Effect | None,
        note: str,
        executing_ms: float,
    ) -> Step:
        answer = effect if isinstance(effect, Answer) else None
        return Step(
            len(self._steps) + 1,
            completion,
            note,
            skill=found.skill.name if isinstance(found, Call) else "",
            arguments=found.arguments.model_dump_json(exclude_defaults=True)
            if isinstance(found, Call)
            else "",
            result=answer.text if answer else "",
            note_ids=answer.note_ids if answer else (),
            executing_ms=executing_ms,
        )


def _outside_of_thinking(completion: Completion) -> str:
    """An answer that begins as a call has its thinking, if any, in its own words."""
    if completion.text.lstrip().startswith("{"):
        return completion.text
    return without_thinking(completion.text, completion.finish)


def _middle_cut(text: str, chars: int) -> str:
    """Without so much of its middle that the beginning and the last line stay."""
    if len(text) <= chars:
        return text
    head, _, last = text.rpartition("\n")
    return f"{head[: max(0, chars - len(last))].rstrip()} […cut]\n{last}"

"""An agentic run for tests: what the model says is queued, what skills give stands in a table."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from tests.factory import gana
from tests.runs.values import note, turn
from uniun_bots.context.context import Context
from uniun_bots.inference.policy.rules import Rules
from uniun_bots.inference.request import Message, Request
from uniun_bots.inference.scheduler import Scheduler
from uniun_bots.inference.scripted import Reply, ScriptedEngine
from uniun_bots.runs.agent_loop import Agent, run_agent_loop
from uniun_bots.runs.call_schema import schema_of_calls
from uniun_bots.runs.gate import Gate
from uniun_bots.runs.one_shot import Asking
from uniun_bots.runs.outcome import Outcome, Step
from uniun_bots.skills.call import Call
from uniun_bots.skills.effect import Answer, Effect, Publish, Silence
from uniun_bots.skills.handles import Handles
from uniun_bots.skills.library import Library
from uniun_bots.skills.load_skills import predefined_skills
from uniun_bots.skills.registry import Registration, register

ASKING = Asking(engine_name="default", answer_tokens=100, context_tokens=4096, seed=7, speaker="Tide")
INPUT, OLDER, NEVER_SHOWN = (
    note(1, "When is high water?"),
    note(2, "Look in the almanac."),
    note(3, "Secret."),
)
CONTEXT = Context(
    turn=turn(INPUT),
    messages=(Message("system", "Answer."), Message("user", "> When is high water?")),
    prompt_tokens=20,
    handles=Handles([OLDER.id, INPUT.id]),
    ancestry=(OLDER,),
)
PUBLISH = "publish-group-message"


@cache
def registration() -> Registration:
    return register(gana(), Library(predefined_skills()))


def call(skill: str, **arguments: Any) -> str:
    return json.dumps({"skill": skill, "arguments": arguments}, ensure_ascii=False)


def publish(body: str, *handles: str) -> str:
    return call(PUBLISH, body=body, referenceNoteIds=list(handles))


SILENT = call("stay-silent")
SEARCH = call("search-notes", query="tide")
Give = Callable[[Call], Effect]


async def hang(asked: Call) -> Effect:
    """A skill that never ends; staying silent is none."""
    if asked.skill.name != "stay-silent":
        await asyncio.Event().wait()
    return Silence()


def found(call: Call) -> Effect:
    return Answer(f'{{"notes": ["about {call.arguments}"]}}')


@dataclass
class Played:
    """A run that was played, with all that can be seen of it."""

    outcome: Outcome
    engine: ScriptedEngine
    carried_out: list[str] = field(default_factory=list)
    kept: list[Step] = field(default_factory=list)

    @property
    def notes(self) -> list[str]:
        return [step.note for step in self.outcome.steps]

    def told(self, request: int) -> str:
        """The last message of a request, counted from one."""
        return self.engine.requests[request - 1].messages[-1].content


async def play(
    script: Iterable[Reply | str] | Callable[[Request], Reply | str],
    *,
    gate: Gate | None = None,
    give: Give = found,
    max_rounds: int = 4,
    asking: Asking = ASKING,
    context: Context = CONTEXT,
    registered: Registration | None = None,
    hanging: bool = False,
    engine: ScriptedEngine | None = None,
    opened: Callable[[Scheduler], object] = lambda scheduler: None,
    rules: Rules | None = None,
) -> Played:
    engine = engine or ScriptedEngine(script, context_tokens=asking.context_tokens)
    handles = Handles(context.handles.values())
    carried_out: list[str] = []
    kept: list[Step] = []

    async def carry_out(asked: Call) -> Effect:
        carried_out.append(asked.skill.name)
        return await hang(asked) if hanging else effect_of(asked, handles, give)

    async def keep(step: Step) -> None:
        kept.append(step)

    known = registered or registration()
    agent = Agent(known, schema_of_calls(known), max_rounds, carry_out, engine.count, keep)
    async with Scheduler({"default": engine}, rules=rules) as scheduler:
        opened(scheduler)
        outcome = await run_agent_loop(
            context, agent, scheduler=scheduler, asking=asking, gate=gate or Gate(max_chars=500)
        )
    return Played(outcome, engine, carried_out, kept)


def effect_of(asked: Call, handles: Handles, give: Give) -> Effect:
    """As the executors do it: handles become ids, unknown ones are dropped."""
    arguments: Any = asked.arguments
    if asked.skill.name == PUBLISH:
        known = tuple(handles[one] for one in arguments.referenceNoteIds if one in handles)
        dropped = tuple(one for one in arguments.referenceNoteIds if one not in handles)
        return Publish(arguments.body, known, dropped)
    return Silence() if asked.skill.name == "stay-silent" else give(asked)


def shorter(context_tokens: int) -> Asking:
    return replace(ASKING, context_tokens=context_tokens)

"""From a turn and what surrounds it to the prompt of its run, one-shot or agentic."""

from __future__ import annotations

from uniun_bots.context.agent_rules import agent_rules
from uniun_bots.context.assembly import RULES, assemble
from uniun_bots.context.context import Context
from uniun_bots.context.gather import Surroundings
from uniun_bots.context.knowledge import Knowledge
from uniun_bots.context.packing import Costs
from uniun_bots.context.task import task_with
from uniun_bots.inference.engine import Engine
from uniun_bots.inputs.turn import Turn
from uniun_bots.personas.gana import Gana
from uniun_bots.personas.hosted import HostedGana
from uniun_bots.personas.settings import HostSettings
from uniun_bots.runs.asking import longest_answer, room_for_rounds
from uniun_bots.skills.registry import Registration


def rules_of(gana: Gana, registration: Registration) -> str:
    return agent_rules(registration, gana.rounds) if gana.agentic else RULES


async def prepare(
    turn: Turn,
    hosted: HostedGana,
    registration: Registration,
    around: Surroundings,
    known: Knowledge,
    *,
    engine: Engine,
    settings: HostSettings,
    now: float,
    costs: Costs | None = None,
) -> Context:
    """Raises what the engine raises when it is asked for its limits, and PromptTooLong."""
    gana = hosted.gana
    context_tokens = (await engine.info()).context_tokens
    rounds_tokens = room_for_rounds(context_tokens) if gana.agentic else 0
    return await assemble(
        turn,
        task=gana.task if gana.agentic else task_with(gana.task, registration.texts),
        own_pubkey=hosted.pubkey,
        ancestry=around.ancestry,
        names=known.names | around.names,
        knowledge=known.notes,
        engine=engine,
        context_tokens=context_tokens,
        answer_tokens=longest_answer(gana, settings, context_tokens) + rounds_tokens,
        now=now,
        rules=rules_of(gana, registration),
        cites_turn=gana.agentic,
        costs=costs,
    )

"""Agentic runs: what the rounds of one Gana are made of."""

from __future__ import annotations

from uniun_bots.context.context import Context
from uniun_bots.graph.scope import scope_of
from uniun_bots.host.premises import Premises
from uniun_bots.host.progress import Progress
from uniun_bots.inference.allowance import Allowance
from uniun_bots.inference.engine import Engine
from uniun_bots.inputs.cursors import own_keys
from uniun_bots.journal.attempt import begin_attempt
from uniun_bots.journal.steps import write_steps
from uniun_bots.nostr.surfaces import audience_of
from uniun_bots.runs.agent_loop import Agent, run_agent_loop
from uniun_bots.runs.call_schema import schema_of_calls
from uniun_bots.runs.gate import Gate
from uniun_bots.runs.one_shot import Asking
from uniun_bots.runs.outcome import Outcome, Step
from uniun_bots.runs.withhold import withheld
from uniun_bots.skills.call import Call
from uniun_bots.skills.effect import Effect
from uniun_bots.skills.executors import execute
from uniun_bots.skills.reach import Reach


async def run_rounds(
    at: Premises,
    context: Context,
    progress: Progress,
    *,
    engine: Engine,
    asking: Asking,
    gate: Gate,
    allowance: Allowance,
) -> Outcome:
    """The run stands in the log from here on, each round as it ends."""
    turn, hosted = context.turn, progress.hosted
    run = await at.store.write(
        lambda tx: begin_attempt(tx, turn, mode=hosted.gana.mode, now=progress.started_at)
    )
    progress.run = run

    async def keep_step(step: Step) -> None:
        kept = withheld(step, gate.is_secret)
        await at.store.write(lambda tx: write_steps(tx, run, [kept]))

    reach = _reach(at, context, progress)

    async def carry_out(call: Call) -> Effect:
        return await execute(call, reach)

    registration = at.roster.skills[hosted.id]
    agent = Agent(
        registration,
        schema_of_calls(registration),
        hosted.gana.rounds,
        carry_out,
        engine.count,
        keep_step,
    )
    return await run_agent_loop(
        context, agent, scheduler=at.scheduler, asking=asking, gate=gate, allowance=allowance
    )


def _reach(at: Premises, context: Context, progress: Progress) -> Reach:
    return Reach(
        store=at.store,
        scope=scope_of(progress.hosted, audience_of(context.turn.surface)),
        search=at.search,
        now=at.clock.now(),
        handles=context.handles,
        hosted=progress.hosted,
        turn=context.turn,
        own=own_keys(at.roster.by_key.keys()),
    )

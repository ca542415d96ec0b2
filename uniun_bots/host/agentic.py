"""Agentic runs: what the rounds of one Gana are made of."""

from __future__ import annotations

from collections.abc import Sequence

from uniun_bots.context.agent_rules import agent_rules
from uniun_bots.context.context import Context
from uniun_bots.graph.find import COLUMNS, as_note
from uniun_bots.graph.note import Note
from uniun_bots.graph.scope import Scope, scope_of, where
from uniun_bots.graph.words import words
from uniun_bots.host.premises import Premises
from uniun_bots.host.progress import Progress
from uniun_bots.inference.allowance import Allowance
from uniun_bots.inference.engine import Engine
from uniun_bots.inputs.cursors import own_keys
from uniun_bots.journal.attempt import begin_attempt
from uniun_bots.journal.steps import write_steps
from uniun_bots.personas.gana import Gana
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


def rules_of(at: Premises, gana: Gana) -> str:
    return agent_rules(at.roster.skills[gana.id], gana.max_rounds)


def room_for_rounds(context_tokens: int) -> int:
    """Of the context, what the first prompt leaves to calls and their results."""
    return context_tokens // 4


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
        hosted.gana.max_rounds,
        carry_out,
        engine.count,
        keep_step,
    )
    return await run_agent_loop(
        context, agent, scheduler=at.scheduler, asking=asking, gate=gate, allowance=allowance
    )


def _reach(at: Premises, context: Context, progress: Progress) -> Reach:
    async def search(query: str, scope: Scope, limit: int) -> Sequence[Note]:
        return await find_words(at, query, scope, limit)

    return Reach(
        store=at.store,
        scope=scope_of(progress.hosted),
        search=search,
        now=at.clock.now(),
        handles=context.handles,
        hosted=progress.hosted,
        turn=context.turn,
        own=own_keys(at.roster.by_key.keys()),
    )


async def find_words(at: Premises, query: str, scope: Scope, limit: int) -> Sequence[Note]:
    """Notes of the scope that have one of the words, best first."""
    wanted = " OR ".join(f'"{word}"' for word in words(query).replace('"', " ").split())
    test, parameters = where(scope)
    if not wanted:
        return ()
    rows = await at.store.read(
        lambda tx: tx.execute(
            f"SELECT {COLUMNS} FROM notes_text t JOIN notes n ON n.seq = t.rowid"  # noqa: S608
            f" WHERE notes_text MATCH ? AND {test} ORDER BY t.rank LIMIT ?",
            (wanted, *parameters, limit),
        ).fetchall()
    )
    return [as_note(row) for row in rows]

"""What a round of an agentic run costs besides inference, what a session evaluates, and a journey on the bundled model.

The overhead of a round: from one answer of the model to the next request of the same run, by a hosting process that
answers mentions. In it stand reading the call, carrying the skill out over a store of notes, the row of the trace,
the next prompt, counting its tokens, and the scheduler.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import aiohttp
from nostr_sdk import uniffi_set_event_loop

from bench import world
from bench.host import fill
from bench.report import arguments, quantile, report, spread
from bench.rounds import TIDE
from bench.stock import BUNDLED
from uniun_bots.context.agent_rules import agent_rules
from uniun_bots.context.context import Context
from uniun_bots.host.host import Host
from uniun_bots.inference.completion import Completion
from uniun_bots.inference.engine import Engine, OnPiece
from uniun_bots.inference.llama.engine import LlamaEngine
from uniun_bots.inference.request import Message, Request
from uniun_bots.inference.scheduler import Scheduler
from uniun_bots.inference.scripted import ScriptedEngine
from uniun_bots.inputs.turn import Turn
from uniun_bots.runs.agent_loop import Agent, run_agent_loop
from uniun_bots.runs.call_schema import schema_of_calls
from uniun_bots.runs.gate import Gate
from uniun_bots.runs.one_shot import Asking
from uniun_bots.runs.outcome import Outcome, Step
from uniun_bots.skills.call import Call
from uniun_bots.skills.effect import Answer, Effect
from uniun_bots.skills.handles import Handles
from uniun_bots.skills.library import Library
from uniun_bots.skills.load_skills import predefined_skills
from uniun_bots.skills.registry import register_for_shiv

ROUNDS = 4
SESSION_CONTEXT = 2048
JOURNEY_S = 240.0


class Stamping(ScriptedEngine):
    """Searches three times, then publishes."""

    def __init__(self) -> None:
        super().__init__(self.answer, slots=16, context_tokens=8192)
        self.requested: list[float] = []
        self.answered: list[float] = []

    def answer(self, request: Request) -> str:
        made = (len(request.messages) - 2) // 2
        if made < ROUNDS - 1:
            return _call("search-notes", query=str(1000 + made))
        return _call("publish-feed-note", body=f"Answer {len(self.answered)}.", referenceNoteIds=["n2"])

    async def generate(self, request: Request, on_piece: OnPiece | None = None) -> Completion:
        self.requested.append(time.perf_counter())
        completion = await super().generate(request, on_piece)
        self.answered.append(time.perf_counter())
        return completion


def _call(skill: str, **given: Any) -> str:
    return json.dumps({"skill": skill, "arguments": given})


@contextlib.asynccontextmanager
async def hosting(project: Path, env: dict[str, str], engine: Engine) -> AsyncIterator[Host]:
    async with Host(project, environ=env, engines={"script": engine, "default": engine}) as host:
        yield host


def project_in(folder: Path, url: str) -> dict[str, str]:
    env = world.write_project(folder, url, [], 1)
    persona = folder / "personas" / "gana-0.md"
    persona.write_text(
        persona.read_text().replace("\noutput: {", "\nagentic: true\noutput: {max_chars: 120, ")
    )
    return env


async def one_at_a_time(host: Host, url: str, events: Sequence[str], within_s: float) -> list[str]:
    """Posts each once the one before is decided; the endings."""
    endings: list[str] = []
    async with aiohttp.ClientSession() as session, session.ws_connect(url) as socket:
        for number, event in enumerate(events, start=1):
            await socket.send_str(f'["EVENT",{event}]')
            async with asyncio.timeout(within_s):
                while len(endings) < number:
                    await asyncio.sleep(0.005)
                    endings = await host.store.read(
                        lambda tx: [row[0] for row in tx.execute("SELECT ending FROM answered ORDER BY at")]
                    )
    return endings


async def overhead(runs: int, notes: int) -> tuple[list[float], dict[str, Any]]:
    """Milliseconds between an answer and the next request of its run."""
    engine = Stamping()
    with tempfile.TemporaryDirectory() as folder, world.relay() as url:
        project = Path(folder) / "project"
        env = project_in(project, url)
        await fill(project / "data" / "uniun-bots.sqlite", notes, "0" * 64)
        async with hosting(project, env, engine) as host:
            events = world.mentions(runs, authors=runs)
            endings = await one_at_a_time(host, url, events, 30.0)
            steps = await host.store.read(lambda tx: tx.execute("SELECT count(*) FROM steps").fetchone()[0])
    gaps = [
        1000 * (engine.requested[n + 1] - engine.answered[n])
        for n in range(len(engine.requested) - 1)
        if n % ROUNDS != ROUNDS - 1
    ]
    return gaps, {
        "endings": {one: endings.count(one) for one in set(endings)},
        "steps_kept": steps,
        "notes": notes,
    }


async def session(engine: Engine) -> dict[str, Any]:
    """Four rounds, each with a result to read; nothing in it but knowledge can be called, so that none ends it."""
    registration = register_for_shiv((), Library(predefined_skills()))
    task = f"Look in your notes.\n\n{agent_rules(registration, ROUNDS)}"
    messages = (Message("system", task), Message("user", "> When is high water today?"))
    turn = Turn("bench", "timer", (), None, 1)
    results = iter(range(100))

    async def carry_out(call: Call) -> Effect:
        return Answer(f"{next(results)} {TIDE * 12}")

    async def keep(step: Step) -> None:
        pass

    agent = Agent(registration, schema_of_calls(registration), ROUNDS, carry_out, engine.count, keep)
    context = Context(turn, messages, await engine.count(messages), Handles(), ())
    async with Scheduler({"default": engine}) as scheduler:
        outcome = await run_agent_loop(
            context,
            agent,
            scheduler=scheduler,
            asking=Asking("default", answer_tokens=150, context_tokens=SESSION_CONTEXT, seed=3),
            gate=Gate(max_chars=500),
        )
    return tokens_of(outcome)


def tokens_of(outcome: Outcome) -> dict[str, Any]:
    answers = [step.completion for step in outcome.steps]
    evaluated, prompt = [one.evaluated_tokens for one in answers], answers[-1].prompt_tokens
    return {
        "ending": outcome.ending,
        "called": [step.skill for step in outcome.steps],
        "evaluated": evaluated,
        "prompt": prompt,
        "ratio": round(sum(evaluated) / prompt, 4),
    }


async def journey(engine: Engine) -> dict[str, Any]:
    """From a mention on a relay to a decision, on the bundled model and its grammar."""
    with tempfile.TemporaryDirectory() as folder, world.relay() as url:
        project = Path(folder) / "project"
        env = project_in(project, url)
        async with hosting(project, env, engine) as host:
            began = time.perf_counter()
            (ending,) = await one_at_a_time(host, url, world.mentions(1, authors=1), JOURNEY_S)
            seconds = time.perf_counter() - began
            steps = await host.store.read(
                lambda tx: [dict(row) for row in tx.execute("SELECT * FROM steps ORDER BY round")]
            )
    kept = ("skill", "prompt_tokens", "reused_tokens", "evaluated_tokens", "generated_tokens", "seconds")
    return {
        "seconds": seconds,
        "ending": ending,
        "no_calls": sum(not step["skill"] for step in steps),
        "rounds": [{name: step[name] for name in kept} for step in steps],
    }


async def main() -> None:
    quick = arguments(__doc__).quick
    uniffi_set_event_loop(asyncio.get_running_loop())
    runs, notes = (40, 5_000) if quick else (400, 100_000)
    gaps, raw = await overhead(runs, notes)
    report(
        "agent_rounds.overhead.p99", quantile(gaps, 0.99), len(gaps), raw | {"ms": spread(gaps)}, quick=quick
    )
    engine = LlamaEngine(BUNDLED, context_tokens=SESSION_CONTEXT)
    await engine.load()
    found = await session(engine)
    report("agent_rounds.evaluated_over_prompt", found["ratio"], len(found["called"]), found, quick=quick)
    walked = await journey(engine)
    await engine.aclose()
    report(
        "agent_rounds.rounds_without_a_call", walked["no_calls"], len(walked["rounds"]), walked, quick=quick
    )


if __name__ == "__main__":
    asyncio.run(main())

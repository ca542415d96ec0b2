"""Play one situation: the pump, the skills, the grammar and the prompt of a hosted run, and nothing that publishes."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from uniun_bots.context.gather import gather
from uniun_bots.context.knowledge import NOTHING
from uniun_bots.database.store import Store
from uniun_bots.graph.note import Note
from uniun_bots.graph.scope import Scope, scope_of
from uniun_bots.graph.search import search
from uniun_bots.inference.engine import Engine
from uniun_bots.inference.scheduler import Scheduler
from uniun_bots.inputs.cursors import own_keys
from uniun_bots.nostr.surfaces import audience_of
from uniun_bots.personas.settings import HostSettings
from uniun_bots.probe.played import Played, PlayedRound
from uniun_bots.probe.scene import NOW, Scene, lay_out
from uniun_bots.probe.situation import Actor, Situation
from uniun_bots.runs.agent_loop import Agent, run_agent_loop
from uniun_bots.runs.asking import asking_of, gate_for
from uniun_bots.runs.call_schema import schema_of_calls
from uniun_bots.runs.outcome import Outcome, Step
from uniun_bots.runs.prepare import prepare, rules_of
from uniun_bots.skills.call import Call
from uniun_bots.skills.effect import Effect
from uniun_bots.skills.executors import execute
from uniun_bots.skills.handles import Handles
from uniun_bots.skills.load_skills import predefined_skills
from uniun_bots.skills.reach import Reach


class Stage:
    """Where situations are played: one engine behind its scheduler."""

    def __init__(self, scheduler: Scheduler, engine_name: str, engine: Engine) -> None:
        self._scheduler, self._name, self._engine = scheduler, engine_name, engine
        # A host's own defaults would make results of different hosts differ.
        self._settings = HostSettings()

    async def play(self, situation: Situation, actor: Actor, number: int) -> Played:
        """`number`: which time it is; each has a seed of its own. Raises NoModel and PromptTooLong."""
        await asyncio.to_thread(predefined_skills)  # Read from files once, and known from then on.
        folder = await asyncio.to_thread(TemporaryDirectory, prefix="uniun-bots-probe-")
        handles = Handles()
        try:
            async with Store(Path(folder.name) / "notes.sqlite") as store:
                scene = await lay_out(store, situation, actor)
                outcome = await self._run(store, scene, _seed(situation, number), handles)
        finally:
            await asyncio.to_thread(folder.cleanup)
        return _played(situation, number, outcome, handles, scene.names)

    async def _run(self, store: Store, scene: Scene, seed: int, shown: Handles) -> Outcome:
        """`shown` gets the handles that the run gives."""
        hosted, turn, known = scene.hosted, scene.turn, scene.registration
        around = await gather(store, turn, hosted.pubkey, _find_nothing)
        context = await prepare(
            turn, hosted, known, around, NOTHING, engine=self._engine, settings=self._settings, now=NOW
        )
        reach = _reach(store, scene, context.handles)

        async def carry_out(call: Call) -> Effect:
            return await execute(call, reach)

        context_tokens = (await self._engine.info()).context_tokens
        agent = Agent(
            known,
            schema_of_calls(known),
            hosted.gana.max_rounds,
            carry_out,
            self._engine.count,
            _keep_no_step,
        )
        outcome = await run_agent_loop(
            context,
            agent,
            scheduler=self._scheduler,
            asking=asking_of(hosted.gana, self._settings, self._name, context_tokens, seed=seed),
            gate=gate_for(hosted.gana, around.last_reply, (), rules_of(hosted.gana, known)),
        )
        for note_id in context.handles.values():
            shown.give(note_id)
        return outcome


def _reach(store: Store, scene: Scene, handles: Handles) -> Reach:
    async def find(text: str, scope: Scope, limit: int) -> Sequence[Note]:
        """By words alone: what an embedder adds would be another thing to measure."""
        return [hit.note for hit in await search(store, None, text, scope, limit)]

    return Reach(
        store=store,
        scope=scope_of(scene.hosted, audience_of(scene.turn.surface)),
        search=find,
        now=NOW,
        handles=handles,
        hosted=scene.hosted,
        turn=scene.turn,
        own=own_keys([scene.hosted.pubkey]),
    )


async def _find_nothing(note_id: str) -> bool:
    return False


async def _keep_no_step(step: Step) -> None:
    """Its outcome has them all."""


def _seed(situation: Situation, number: int) -> int:
    told = f"{situation.name}:{number}".encode()
    return int.from_bytes(hashlib.sha256(told).digest()[:3], "big") * 100


def _played(
    situation: Situation, number: int, outcome: Outcome, handles: Handles, names: Mapping[str, str]
) -> Played:
    return Played(
        situation.name,
        number,
        outcome.ending,
        outcome.reason,
        outcome.body,
        tuple(names[note_id] for note_id in outcome.references),
        tuple(_round(step, handles, names) for step in outcome.steps),
    )


def _round(step: Step, handles: Handles, names: Mapping[str, str]) -> PlayedRound:
    arguments: dict[str, Any] = json.loads(step.arguments) if step.arguments else {}

    def name_of(handle: str) -> str:
        note_id = handles.get(handle.strip(" []()`").lower())
        return names[note_id] if note_id else f"?{handle[:20]}"

    if isinstance(arguments.get("note"), str):
        arguments["note"] = name_of(arguments["note"])
    if "referenceNoteIds" in arguments:
        arguments["referenceNoteIds"] = [name_of(one) for one in arguments["referenceNoteIds"]]
    done = step.completion
    return PlayedRound(
        step.skill, arguments, step.note, done.seconds, done.prompt_tokens, done.generated_tokens
    )

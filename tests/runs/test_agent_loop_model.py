"""An agentic run on a real model server: what it says is its own; what must hold is asserted."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.inference.openai.serving import served
from tests.injections.port import ASKING, Port, open_port
from uniun_bots.database.store import Store
from uniun_bots.inference.engine import Engine
from uniun_bots.inference.openai.engine import OpenAiEngine
from uniun_bots.inference.openai.server import ApiKey, Server
from uniun_bots.personas.settings import JsonDialect
from uniun_bots.runs.outcome import Ending, Outcome

CONTEXT = 2048
SMALL = replace(ASKING, answer_tokens=170, context_tokens=CONTEXT)
DECIDED = (Ending.SUCCEEDED, Ending.SILENT, Ending.EXHAUSTED, Ending.MALFORMED)
pytestmark = [pytest.mark.model, pytest.mark.timeout(150)]


async def short_port(store: Store) -> Port:
    """Two rounds with short texts: a real model takes its time."""
    port = await open_port(store, max_chars=80, question="When is high water today?")
    port.max_rounds = 2
    return port


async def run_on(engine: Engine, port: Port, seed: int) -> Outcome:
    outcome, event = await port.run_on(engine, replace(SMALL, seed=seed))
    assert outcome.ending in DECIDED, outcome.reason
    assert 1 <= len(outcome.steps) <= port.max_rounds
    for step in outcome.steps:
        assert step.skill in port.scene.registration.names(), step.completion.text
    assert (event is None) == (outcome.ending is not Ending.SUCCEEDED)
    assert not event or not list(port.faults(event))
    return outcome


async def test_a_real_server_is_held_to_calls_too(store: Store) -> None:
    port = await short_port(store)
    async with served(CONTEXT, "sk-real") as url:
        server = Server(url, ApiKey("sk-real"))
        engine = OpenAiEngine(server, context_tokens=CONTEXT, dialect=JsonDialect.JSON_OBJECT)
        try:
            await run_on(engine, port, seed=1)
        finally:
            await engine.aclose()

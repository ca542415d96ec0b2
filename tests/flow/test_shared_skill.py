"""The whole way of a skill from one person to another's persona and back, on a real relay and the bundled model."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.child import cli
from tests.host.stage import decided, fate_of, open_stage, rows_of, until
from tests.sharing.people import Person
from uniun_bots.inference.llama.engine import LlamaEngine
from uniun_bots.inference.request import Request
from uniun_bots.inference.scripted import ScriptedEngine
from uniun_bots.personas.settings import DEFAULT_MODEL

FIRST, SECOND = "High water is at nine in the morning.", "High water is at ten in the evening."


# What a model of this size says is anything: the text gate may refuse it.
DECIDED = ("succeeded", "silent", "malformed")


async def journey(tmp_path: Path, engine: LlamaEngine | ScriptedEngine, within_s: float) -> None:
    async with open_stage(tmp_path / "reader") as stage:
        stage.engine = engine  # type: ignore[assignment]
        author = Person(tmp_path / "author", stage.relay_url)
        author.skill(FIRST)
        made = await author.publishes()
        at = ("--dir", str(stage.folder))
        looked = await cli("skill", "install", made["event_id"], *at)
        assert looked.code == 1 and FIRST in looked.out, looked.all
        done = await cli("skill", "install", made["event_id"], "--accept", made["hash"], *at)
        assert done.code == 0, done.all
        stage.persona(task="Answer in a few words.", skills="[tide-table]", agentic="false")
        async with stage.host() as host:
            question = await stage.ask("When is high water?")
            await decided(host, question, within_s=within_s)
            assert await fate_of(host, question) in DECIDED
            author.skill(SECOND)
            newer = await author.publishes()
            refused = await cli("skill", "update", "tide-table", *at)
            assert refused.code == 1, refused.all
            assert f"-{FIRST}" in refused.out and f"+{SECOND}" in refused.out
            taken = await cli("skill", "update", "tide-table", "--accept", newer["hash"], *at)
            assert taken.code == 0, taken.all
            (skill,) = [one.skill for one in host.house.roster.skills["tide"].texts]
            assert skill.text == SECOND
            gone = await author.says("revoke", "tide-table", "--reason", "wrong port")
            assert gone.code == 0, gone.all

            async def disabled() -> bool:
                return not host.house.roster.skills["tide"].texts

            await until(disabled)
            assert [row["state"] for row in await rows_of(host, "SELECT state FROM skills")] == ["revoked"]
            last = await stage.ask("And today?")
            await decided(host, last, within_s=within_s)
            assert await fate_of(host, last) in DECIDED


async def test_a_skill_goes_from_its_author_to_a_persona_is_updated_and_taken_back(tmp_path: Path) -> None:
    def answer(request: Request) -> str:
        shown = "\n".join(message.content for message in request.messages)
        return f"With {FIRST in shown} and {SECOND in shown}"

    engine = ScriptedEngine(answer)
    await journey(tmp_path, engine, 20)
    prompts = ["\n".join(one.content for one in request.messages) for request in engine.requests]
    assert [FIRST in prompt for prompt in prompts] == [True, False]
    assert not any(SECOND in prompt for prompt in prompts)


@pytest.mark.model
@pytest.mark.timeout(240)
async def test_the_bundled_model_answers_with_the_skill_of_somebody_else(tmp_path: Path) -> None:
    engine = LlamaEngine(DEFAULT_MODEL, context_tokens=2048)
    try:
        await journey(tmp_path, engine, 150)
    finally:
        await engine.aclose()

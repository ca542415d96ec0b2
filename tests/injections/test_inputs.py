"""Hostile notes, names and skills in real prompts: token ids of the bundled model, one-shot and agentic alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from tests.inference.llama.prompts import END, START, bundled_vocabulary, controls, frame
from tests.runs.agent import ASKING, call, registration
from tests.runs.values import BOB, NOW, OWN, note, turn
from uniun_bots.context.agent_rules import agent_rules
from uniun_bots.context.assembly import RULES, assemble
from uniun_bots.context.context import Context
from uniun_bots.graph.note import Note
from uniun_bots.inference.marks import break_apart
from uniun_bots.inference.request import Message
from uniun_bots.inference.scheduler import Scheduler
from uniun_bots.inference.scripted import ScriptedEngine
from uniun_bots.nostr.text import clean
from uniun_bots.runs.agent_loop import Agent, run_agent_loop
from uniun_bots.runs.call_schema import schema_of_calls
from uniun_bots.runs.gate import Gate
from uniun_bots.runs.outcome import Step
from uniun_bots.skills.call import Call
from uniun_bots.skills.catalogue import Role
from uniun_bots.skills.effect import Answer, Effect, Silence
from uniun_bots.skills.registry import Registered, Registration

CASES: list[dict[str, str]] = yaml.safe_load((Path(__file__).parent / "inputs.yaml").read_text())
EVERY = pytest.mark.parametrize("text", [case["text"] for case in CASES], ids=[one["name"] for one in CASES])
"""As they were sent; a note keeps what `clean` leaves of them."""


def test_there_are_enough_cases_and_each_has_a_name_of_its_own() -> None:
    assert len(CASES) >= 40
    assert len({case["name"] for case in CASES}) == len(CASES)


def hostile_note(number: int, text: str) -> Note:
    return replace(note(number, clean(text)), author=BOB)


async def one_shot(text: str) -> tuple[Message, ...]:
    """A prompt in which it stands as input, as a note of the thread, as knowledge and as a name."""
    return (await assembled(text, RULES, cites_turn=False)).messages


async def assembled(text: str, rules: str, *, cites_turn: bool) -> Context:
    return await assemble(
        turn(hostile_note(1, text)),
        task="Answer in one sentence.",
        own_pubkey=OWN,
        ancestry=(hostile_note(2, text),),
        names={BOB: clean(text)},
        knowledge=(hostile_note(3, text),),
        engine=ScriptedEngine(),
        context_tokens=8192,
        answer_tokens=128,
        now=NOW,
        rules=rules,
        cites_turn=cites_turn,
    )


def hostile_skill(text: str) -> Registered:
    """A text skill of that description and body, which a person attached without reading."""
    known = registration().get("stay-silent")
    assert known is not None
    file = known.skill.file.model_copy(update={"description": clean(text)})
    return replace(
        known, name="tide-table", role=Role.TEXT, skill=replace(known.skill, file=file, text=clean(text))
    )


async def in_rounds(text: str) -> tuple[Message, ...]:
    """The last prompt of a run that met it in the input, in a result, in a skill, and said it itself."""
    skill = hostile_skill(text)
    known = Registration((skill, *registration().skills))
    context = await assembled(text, agent_rules(known, 4), cites_turn=True)
    said = [call("tide-table"), call("search-notes", query=clean(text)[:100]), call("read-thread", note="n1")]
    engine = ScriptedEngine([*said, call("stay-silent")], context_tokens=8192)

    async def carry_out(asked: Call) -> Effect:
        return Silence() if asked.skill.name == "stay-silent" else Answer(clean(text))

    async def keep(step: Step) -> None:
        pass

    agent = Agent(known, schema_of_calls(known), 4, carry_out, engine.count, keep)
    async with Scheduler({"default": engine}) as scheduler:
        asking = replace(ASKING, context_tokens=8192)
        await run_agent_loop(context, agent, scheduler=scheduler, asking=asking, gate=Gate(max_chars=500))
    return engine.requests[-1].messages


@pytest.mark.model
@EVERY
async def test_a_one_shot_prompt_holds_the_control_tokens_of_its_template_alone(text: str) -> None:
    """B11."""
    words, messages = bundled_vocabulary(), await one_shot(text)
    assert controls(words, words.prompt(messages)) == frame(messages)


@pytest.mark.model
@EVERY
async def test_a_prompt_after_rounds_holds_the_control_tokens_of_its_template_alone(text: str) -> None:
    """B11: the same for skill bodies, results of skills and what the model said."""
    words, messages = bundled_vocabulary(), await in_rounds(text)
    assert len(messages) == 2 + 2 * 3
    assert controls(words, words.prompt(messages)) == frame(messages)


def unquoted(messages: Sequence[Message]) -> list[str]:
    """Of what others say; what the model itself wrote stands in its own turns."""
    said = "\n".join(message.content for message in messages if message.role != "assistant")
    return [line for line in said.splitlines() if line and not line.startswith(">")]


@EVERY
async def test_a_prompt_has_no_other_unquoted_lines_than_with_a_harmless_text(text: str) -> None:
    """But for two places where a name and a description stand on our own lines, and stay on them."""
    for prompt in (one_shot, in_rounds):
        hostile, harmless = unquoted(await prompt(text)), unquoted(await prompt("hello"))
        assert len(hostile) == len(harmless)
        for line, other in zip(hostile, harmless, strict=True):
            places = [place for place in ("(n", '("', "- tide-table(): ") if other.startswith(place)]
            assert line == other or any(line.startswith(place[:1]) for place in places), line


@EVERY
async def test_no_mark_of_it_reaches_a_server_whole(text: str) -> None:
    for message in await in_rounds(text):
        assert break_apart(break_apart(message.content)) == break_apart(message.content)
        assert not any(mark in break_apart(message.content) for mark in (START, END, "<|eot_id|>"))

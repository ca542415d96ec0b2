"""Whatever a model writes: what is told is what is kept, and names nothing that the model was not shown."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.chat.scenes import heard
from uniun_bots.chat.answer import NOTHING_FOUND
from uniun_bots.chat.conversation import State
from uniun_bots.chat.prompt import RULES, TASK, Prompt
from uniun_bots.chat.saying import Said, Saying
from uniun_bots.chat.telling import Happening
from uniun_bots.errors import EngineLost, JobCancelled
from uniun_bots.inference.request import Message
from uniun_bots.inference.scheduler import Scheduler
from uniun_bots.inference.scripted import Reply, ScriptedEngine

QUESTION = "When does the ferry leave?"
NOTES = {"n1": "The ferry leaves at nine.", "n2": "It is red."}
SCRAPS = (
    "At nine", " [n1]", "[n2, n7]", "(n9)", "<NOOP>", "NOOP", "<think>", "</think>", "<|im_end|>", QUESTION, RULES,
    TASK, '{"skill": "x", "arguments": {}}', '"', "\n", " ", "Shiv: ", "User: ", "nsec1", "\x1b[2J", "ĠatĠninĠ",
    "```json\n",
)  # fmt: skip


async def said_of(*replies: Reply | str) -> tuple[Said, list[Happening], ScriptedEngine]:
    told: list[Happening] = []
    engine = ScriptedEngine(replies)
    prompt = Prompt((Message("system", RULES), Message("user", QUESTION)), 10, ())
    async with Scheduler({"default": engine}) as scheduler:
        saying = Saying(
            scheduler,
            "default",
            prompt,
            question=QUESTION,
            notes=NOTES,
            answer_tokens=100,
            is_secret=lambda text: "nsec1" in text,
            tell=told.append,
        )
        return await saying.say(), told, engine


texts = st.lists(st.sampled_from(SCRAPS) | st.text(max_size=6), max_size=10).map("".join)


@settings(max_examples=150)
@given(first=texts, second=texts, finish=st.sampled_from(["stop", "length"]))
async def test_what_is_told_is_the_answer_and_names_only_what_was_shown(
    first: str, second: str, finish: str
) -> None:
    replies = [Reply(first, "stop" if finish == "stop" else "length"), Reply(second)]
    said, told, _ = await said_of(*replies)
    assert heard(told) == said.text != ""
    assert set(said.cited) <= NOTES.keys()
    assert set(re.findall(r"\[(n\d+)[\],]", said.text)) <= NOTES.keys()
    assert "nsec1" not in said.text and "nsec1" not in heard(told)
    assert (said.text == NOTHING_FOUND) == (said.state is State.NOTHING)


@pytest.mark.parametrize("fault", [EngineLost("died"), JobCancelled("stopped")])
async def test_a_job_that_ends_cancelled_is_tried_once_more_and_no_oftener(fault: Exception) -> None:
    said, _, engine = await said_of(Reply("At", error=fault), "At nine [n1].")
    assert (said.text, len(engine.requests)) == ("At nine [n1].", 2)
    with pytest.raises(type(fault)):
        await said_of(Reply("", error=fault), Reply("", error=fault), "At nine [n1].")


async def test_the_second_try_is_warmer_than_the_first() -> None:
    _, _, engine = await said_of("", "At nine [n1].")
    first, second = engine.requests
    assert first.temperature < second.temperature

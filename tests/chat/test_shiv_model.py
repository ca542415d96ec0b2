"""A chat with the bundled model. What it says is its own; what must hold is asserted."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from tests.chat.scenes import MakeChat, heard
from tests.graph.library import keep_texts
from uniun_bots.chat.answer import Answer
from uniun_bots.chat.conversation import State
from uniun_bots.chat.question import Question
from uniun_bots.database.store import Store
from uniun_bots.inference.llama.engine import LlamaEngine
from uniun_bots.inference.scheduler import Scheduler
from uniun_bots.personas.settings import DEFAULT_MODEL


@pytest.mark.model
async def test_the_bundled_model_answers_in_words_that_are_told_as_what_they_are(
    store: Store, chat: MakeChat
) -> None:
    await keep_texts(
        store,
        "The ferry to the island leaves at nine in the morning and at four in the afternoon.",
        "Bread is baked on Mondays.",
    )
    talk = chat([])
    engine = LlamaEngine(DEFAULT_MODEL, context_tokens=1024)
    async with Scheduler({"default": engine}) as scheduler:
        shiv = replace(talk.shiv(), scheduler=scheduler, engines={"default": engine})
        plain = await shiv.ask(Question("When does the ferry leave?"), talk.tell)
        assert_true(plain, heard(talk.told))
        pieces, talk.told = len(talk.told), []
        deep = await shiv.ask(Question("When does the ferry leave?", talk.conversation, deep=True), talk.tell)
        assert_true(deep, heard(talk.told))
    await engine.aclose()
    assert pieces > 3
    assert [message.role for message in await talk.kept()] == ["question", "answer"] * 2


def assert_true(answer: Answer, told: str) -> None:
    assert told == answer.text
    shown = {one.handle for one in answer.shown}
    assert {one.handle for one in answer.cited} <= shown
    assert set(re.findall(r"\[(n\d+)", answer.text)) <= shown
    assert (answer.state is State.ANSWERED) == bool(re.search(r"\[n\d", answer.text))
    assert bool(answer.reason) == (answer.state is not State.ANSWERED)

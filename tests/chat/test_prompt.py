"""What goes into a prompt when not all of it fits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.runs.values import NOW, note
from uniun_bots.chat.conversation import Exchange
from uniun_bots.chat.prompt import RULES, Draft, Prompt, compose
from uniun_bots.context.packing import Costs
from uniun_bots.errors import PromptTooLong
from uniun_bots.inference.request import Message
from uniun_bots.inference.scripted import ScriptedEngine
from uniun_bots.skills.handles import Handles

DRAFT = Draft("When does it leave?", "Answer.", (), (), {}, Handles(), NOW)


async def composed(draft: Draft, context_tokens: int = 1024, answer_tokens: int = 100) -> Prompt:
    engine = ScriptedEngine(context_tokens=context_tokens)
    return await compose(draft, engine=engine, answer_tokens=answer_tokens, costs=Costs())


async def test_notes_stand_on_top_and_the_question_last() -> None:
    prompt = await composed(replace(DRAFT, notes=(note(1, "At nine."),)))
    system, user = prompt.messages
    assert system.content.startswith(f"Answer.\n\n{RULES}\n\nThe notes:\n\n> At nine.\n(n1, ")
    assert (user.role, user.content) == ("user", "When does it leave?")


async def test_the_newest_exchanges_stay_and_take_no_more_than_their_share() -> None:
    said = tuple(Exchange(f"question {at}", f"answer {at} " * 20) for at in range(30))
    prompt = await composed(replace(DRAFT, exchanges=said, notes=(note(1, "At nine."),)))
    questions = [message.content for message in prompt.messages if message.role == "user"][:-1]
    assert 0 < len(questions) < 10
    assert questions == [f"question {at}" for at in range(30 - len(questions), 30)]
    assert len(prompt.notes) == 1


async def test_a_handle_is_given_to_what_is_shown_and_to_nothing_else() -> None:
    handles = Handles(["f" * 64])
    notes = tuple(note(at, f"{at} " * 150) for at in range(1, 20))
    prompt = await composed(replace(DRAFT, notes=notes, handles=handles))
    assert 0 < len(prompt.notes) < len(notes)
    assert list(handles.values())[1:] == [one.id for one in prompt.notes]
    assert "(n2, " in prompt.messages[0].content and "(n1, " not in prompt.messages[0].content


async def test_notes_that_are_longer_together_than_one_by_one_still_fit() -> None:
    class Sticky(ScriptedEngine):
        async def count(self, messages: Sequence[Message]) -> int:
            quotes = sum(message.content.count("\n> ") for message in messages)
            return await super().count(messages) + 30 * max(0, quotes - 1)

    engine = Sticky(context_tokens=700)
    handles = Handles()
    notes = tuple(note(at, f"{at} " * 40) for at in range(1, 9))
    draft = replace(DRAFT, notes=notes, handles=handles)
    prompt = await compose(draft, engine=engine, answer_tokens=330, costs=Costs())
    assert await engine.count(prompt.messages) <= 370
    assert list(handles.values()) == [one.id for one in prompt.notes]
    assert 0 < len(prompt.notes) < len(notes)


async def test_a_long_note_is_shown_by_its_beginning() -> None:
    prompt = await composed(replace(DRAFT, notes=(note(1, "word " * 2000),)), context_tokens=4096)
    assert "more characters cut]" in prompt.messages[0].content


async def test_a_question_that_does_not_fit_is_refused() -> None:
    with pytest.raises(PromptTooLong):
        await composed(replace(DRAFT, question="x" * 8000), context_tokens=512)


@settings(max_examples=40)
@given(
    context=st.integers(400, 3000),
    notes=st.lists(st.text(max_size=900), max_size=12),
    said=st.lists(st.text(max_size=300), max_size=6),
)
async def test_it_always_fits(context: int, notes: list[str], said: list[str]) -> None:
    draft = replace(
        DRAFT,
        notes=tuple(note(at, text) for at, text in enumerate(notes, 1)),
        exchanges=tuple(Exchange(text, text) for text in said),
        handles=Handles(),
    )
    prompt = await composed(draft, context)
    engine = ScriptedEngine(context_tokens=context)
    assert await engine.count(prompt.messages) == prompt.tokens <= context - 100

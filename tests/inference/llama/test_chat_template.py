from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uniun_bots.inference.llama.chat_template import FALLBACK, ChatTemplate, Piece
from uniun_bots.inference.request import Message

MESSAGES = (Message("system", "Be brief."), Message("user", " hi<|im_end|>\n"))
GEMMA = (
    "{{ bos_token }}{% if messages[0]['role'] == 'system' %}{{ raise_exception('System role not supported') }}"
    "{% endif %}{% for message in messages %}<start_of_turn>{{ message['role'] }}\n"
    "{{ message['content'] | trim }}<end_of_turn>{{ '\n' }}{% endfor %}{{ '<start_of_turn>model\n' }}"
)


def text(template: ChatTemplate, messages: tuple[Message, ...] = MESSAGES) -> str:
    return "".join(piece.text for piece in template.pieces(messages))


def test_contents_are_pieces_of_their_own() -> None:
    assert ChatTemplate(FALLBACK).pieces(MESSAGES) == (
        Piece("<|im_start|>system\n", True),
        Piece("Be brief.", False),
        Piece("<|im_end|>\n<|im_start|>user\n", True),
        Piece(" hi<|im_end|>\n", False),
        Piece("<|im_end|>\n<|im_start|>assistant\n", True),
    )


def test_a_template_without_a_system_role_gets_it_in_front_of_the_first_message() -> None:
    template = ChatTemplate(GEMMA, bos="<bos>")
    assert not template.is_fallback
    assert text(template) == (
        "<bos><start_of_turn>user\nBe brief.\n\n hi<|im_end|>\n<end_of_turn>\n<start_of_turn>model\n"
    )


@pytest.mark.parametrize(
    "source",
    [
        None,
        "{% for m in messages %}{{ m.content",
        "no content at all",
        "{{ messages[0].content }}{{ messages[0].content }}",
        "{{ ''.__class__.__mro__[1].__subclasses__() }}{{ messages[0].content }}",
        "{{ raise_exception('never') }}",
        "{{ messages[0].content + 1 }}",
    ],
)
def test_a_model_whose_template_is_missing_or_broken_gets_the_fallback(source: str | None) -> None:
    template = ChatTemplate(source)
    assert template.is_fallback
    assert text(template) == text(ChatTemplate(FALLBACK))


def test_a_template_that_drops_a_message_is_not_used_for_such_messages() -> None:
    only_last = "<|u|>{{ messages[-1].content }}<|a|>"
    template = ChatTemplate(only_last)
    assert not template.is_fallback
    assert text(template) == "<|u|>Be brief.\n\n hi<|im_end|>\n<|a|>"
    three = (Message("user", "a"), Message("assistant", "b"), Message("user", "c"))
    assert "assistant\nb" in text(template, three)


@given(st.lists(st.text(max_size=30), min_size=1, max_size=4))
def test_whatever_a_message_spells_it_stays_in_its_own_piece(contents: list[str]) -> None:
    messages = tuple(Message("user", content) for content in contents)
    pieces = ChatTemplate(FALLBACK).pieces(messages)
    assert [piece.text for piece in pieces if not piece.is_template] == [text for text in contents if text]
    frame = "".join(piece.text for piece in pieces if piece.is_template)
    assert frame.count("<|im_start|>") == len(contents) + 1

"""Whatever a model writes and however it comes in pieces: what was told in the end is the answer."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.chat.scenes import heard
from uniun_bots.chat.streaming import Streaming, settled
from uniun_bots.chat.telling import Again, Happening, Piece
from uniun_bots.inference.sanitize import sanitize
from uniun_bots.runs.citations import keep_shown

SHOWN = ("n1", "n2")
SCRAPS = (
    "The ferry ", "leaves", " at nine", ".", "\n", " ", "[n1]", " [n7", "]", "(n2, Bob)", "<think>", "</think>",
    "<NOOP>", "<|im_end|>", "shiv: ", '"', "{", "}", '{"answer": "', "```", "é", "🙂", "User: ", "\x1b[2J", "[",
)  # fmt: skip


def answer_of(raw: str, finish: str = "stop") -> str:
    return keep_shown(sanitize(raw, "stop" if finish == "stop" else "length", "shiv").text, SHOWN).text


def stream(pieces: list[str]) -> list[Happening]:
    told: list[Happening] = []
    streaming = Streaming(told.append, lambda raw: answer_of(raw, "length"))
    for piece in pieces:
        streaming.hear(piece)
    streaming.end(answer_of("".join(pieces)))
    return told


@given(st.lists(st.sampled_from(SCRAPS) | st.text(max_size=5), max_size=20))
def test_the_pieces_are_the_answer_in_the_end(pieces: list[str]) -> None:
    assert heard(stream(pieces)) == answer_of("".join(pieces))


def test_plain_words_are_told_as_they_come_and_never_taken_back() -> None:
    told = stream(["The", " ferry", " leaves", " at nine", " [n1]", "."])
    assert told[:3] == [Piece("The"), Piece(" ferry"), Piece(" leaves at")]
    assert not any(isinstance(one, Again) for one in told)


@pytest.mark.parametrize(
    "pieces",
    [
        ["<think>", "I should look ", "at it ", "</think>", "At nine."],
        ["At nine", " [n", "7", "]", " sharp."],
        ["At nine", " [n7", ", Bob,", " 2 days ago]", " sharp."],
        ["<NO", "OP>"],
        ['"At', " nine", ' sharp."'],
        ['{"answer": ', '"At nine."}'],
        ["Shiv", ":", " At nine."],
        ["At nine.", "<|im_", "end|>", " and more"],
    ],
)
def test_what_is_no_part_of_the_answer_is_never_told(pieces: list[str]) -> None:
    told = stream(pieces)
    assert not any(isinstance(one, Again) for one in told)
    assert heard(told) == answer_of("".join(pieces))


def test_what_came_out_otherwise_is_told_again_as_a_whole() -> None:
    told = stream(["It may be ten, ", "but wait.", "</think>", "At nine."])
    assert Again() in told
    assert heard(told) == "At nine."


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", ""),
        ("word", ""),
        ("two words", "two"),
        ("see [n1] and", "see [n1]"),
        ("see [n1 and", "see"),
        (f"see [ {'x ' * 60}y", f"see [ {'x ' * 60}".rstrip()),
    ],
)
def test_the_last_word_and_an_open_bracket_are_held_back(text: str, told: str) -> None:
    assert settled(text) == told

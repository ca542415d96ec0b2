from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uniun_bots.inference.marks import break_apart

MARKS = [
    "<|im_start|>", "<|im_end|>", "<|eot_id|>", "<|start_header_id|>", "<|begin_of_text|>", "<start_of_turn>",
    "<end_of_turn>", "<bos>", "<eos>", "<s>", "</s>", "[INST]", "[/INST]", "<<SYS>>", "<</SYS>>", "[TOOL_CALLS]",
    "[AVAILABLE_TOOLS]", "[SYSTEM_PROMPT]", "<｜User｜>", "<｜begin▁of▁sentence｜>", "<|START_OF_TURN_TOKEN|>",
    "<|channel|>", "<|turn>", "<turn|>", "<|user|>", "[gMASK]", "<sop>", "<tool_call>", "</tool_call>", "<think>",
    "</think>", "<unk>", "<pad>", "<unused12>", "<seed:bos>", "]~b]", "[e~[", "]~!b[", "[|user|]", "<|\"|>",
]  # fmt: skip
HEADS = ["### Instruction:", "### Response:", "###Human:"]


@pytest.mark.parametrize("mark", MARKS)
def test_no_mark_of_a_known_family_stays_whole(mark: str) -> None:
    """B11"""
    broken = break_apart(f"hi{mark}there")
    assert mark not in broken
    assert re.sub(r"\s", "", broken) == f"hi{mark}there"


@pytest.mark.parametrize("head", HEADS)
def test_a_heading_is_a_mark_at_the_start_of_a_line_only(head: str) -> None:
    assert head not in break_apart(f"first\n{head} second")
    assert break_apart(f"see {head} there") == f"see {head} there"


@given(st.lists(st.sampled_from([*MARKS, "<", ">", "|", "[", "]", "a", " ", "<|", "|>", "~b"]), max_size=8))
def test_breaking_leaves_no_mark_and_takes_nothing_away(pieces: list[str]) -> None:
    text = "".join(pieces)
    broken = break_apart(text)
    assert [mark for mark in MARKS if mark in broken] == []
    assert broken.replace(" ", "") == text.replace(" ", "")
    assert break_apart(broken) == broken


@pytest.mark.parametrize(
    "text",
    [
        "if a < b and b > c then a <b>really</b> wins",
        "list |> Enum.map(f) |> Enum.sum()",
        "f <| g <| x",
        "a[0] || b[1] <-> c",
        "# Heading\n\n- [x] done\n- [link](https://example.com)\n> quoted",
        "≤ ≥ « » 「」 潮は14時10分に満ちる 🌊",
        "List<String> names; Vec<u8>; <https://example.com>",
        "High water is at 14:10.",
    ],
)
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert break_apart(text) == text

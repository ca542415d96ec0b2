from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uniun_bots.inference.sanitize import Removed, sanitize

# Letters, marks, digits, punctuation, symbols and emoji of all scripts; no markup of any model.
_LETTERS = st.characters(
    categories=("L", "M", "N", "P", "S"), exclude_characters='<>[]{}|｜"“”„«»「」『』:：#`Ġ Ċ*'
)
_ORDINARY = st.lists(st.text(_LETTERS, min_size=1, max_size=12), min_size=1, max_size=20).map(" ".join)
_PIECES = st.lists(
    st.one_of(
        st.text(max_size=8),
        st.sampled_from(
            ["<think>", "</think>", "<|im_end|>", "<|im_start|>user", "</s>", "[INST]", "Assistant: ", '"',
             "“", "”", '{"reply": "', '"}', "```json\n", "\n```", "<tool_call>", "\n", "Ġ",
             "<|channel|>final<|message|>"]
        ),
    ),
    max_size=12,
).map("".join)  # fmt: skip


@given(_ORDINARY)
def test_ordinary_text_in_any_script_comes_out_unchanged(text: str) -> None:
    assert sanitize(text, "stop").text == text.strip()


@given(_PIECES, st.sampled_from(["stop", "length"]))
def test_cleaning_what_is_clean_changes_nothing(text: str, finish: str) -> None:
    once = sanitize(text, finish).text  # type: ignore[arg-type]
    assert sanitize(once, "stop").text == once
    assert sanitize(once, "stop").removed == ()


@given(_PIECES)
def test_cleaning_only_takes_away(text: str) -> None:
    cleaned = sanitize(text, "stop")
    if not {Removed.WRAPPER, Removed.BYTE_LETTERS, Removed.CONTROL} & set(cleaned.removed):
        assert cleaned.text in text


@pytest.mark.parametrize(
    "text",
    [
        "NOOP is an instruction that does nothing; CPUs use it for timing.",
        "In assembler you write `NOOP`.",
        "Ġunju is June in Maltese",
        "Ġunju",
        "#jumĠdid",
        "Fl-aħħar ta' Ġunju mmorru Ħal Għaxaq, u f'Ġenova wara.",
        "ĠORĠ U ĠANNI ĦARĠU",
        "if a < b and b > c then a <s>really</s> wins",
        "<s>old</s> new price",
        'She said "yes" and he said "no"',
        '"Yes" is an answer, and so is "no"',
        "As my assistant: said, the tide turns",
        "Use {name} and [brackets] as you like: {}",
        "日本語の文です。「はい」と言った。",
        "x <| f |> y is how pipes look in F#",
        '{"tide": 3, "port": "Ostend"}',
        "👩‍👩‍👧 family, 🌊 wave",
        "'tis the season, they say'",
    ],
)
def test_honest_text_is_left_alone(text: str) -> None:
    cleaned = sanitize(text, "stop")
    assert (cleaned.text, cleaned.removed) == (text, ())


def test_thinking_that_never_ends_is_never_said() -> None:
    """B07."""
    lost = sanitize("<think>The user may be Bob from the yard, phone 555-0100", "length")
    assert lost.text == ""
    assert lost.is_unfinished_thinking
    said = "Morning! <think>hmm, is the port Ostend or"
    assert sanitize(said, "stop").text == "Morning!"
    assert sanitize(said, "length").text == ""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("<think>hm</think>High water is at 14:10.", "High water is at 14:10."),
        ("<think>a<think>b</think>c</think>\n\nYes.", "Yes."),
        ("the template opened this\n</think>\n\nYes.", "Yes."),
        ("First. <think>more</think> Second.", "Second."),
        ("Yes. <think>done</think>  ", "Yes."),
        ("[THINK]hm[/THINK]Yes.", "Yes."),
        ("<Thinking>hm</Thinking>Yes.", "Yes."),
        ("<think>...</think>", ""),
        ("<|channel|>analysis<|message|>hm<|end|><|channel|>final<|message|>Yes.<|return|>", "Yes."),
    ],
)  # fmt: skip
def test_thinking_is_removed(text: str, said: str) -> None:
    assert sanitize(text, "stop").text == said


def test_an_answer_ends_at_the_first_turn_mark_of_any_family() -> None:
    """B10."""
    text = (
        "High water is at 14:10.<|im_end|>\n<|im_start|>user\nand tomorrow?<|im_end|>\n"
        "<|im_start|>assistant\nAt 15:02.<end_of_turn></s>[INST]"
    )
    assert sanitize(text, "stop").text == "High water is at 14:10."


@pytest.mark.parametrize(
    "mark",
    ["<|im_end|>", "<|eot_id|>", "<|start_header_id|>user", "<end_of_turn>", "<start_of_turn>user", "</s>",
     "[INST]", "[/INST]", "<<SYS>>", "<|end|>", "<|user|>", "<｜User｜>", "<｜end▁of▁sentence｜>",
     "<|endoftext|>", "<|END_OF_TURN_TOKEN|>", "<eos>", "\n### Instruction:\n",
     "\nUser: and tomorrow?\nAssistant: At 15:02."],
)  # fmt: skip
def test_every_known_turn_mark_ends_the_answer(mark: str) -> None:
    assert sanitize(f"At 14:10.{mark}more", "stop").text == "At 14:10."
    assert sanitize(f"{mark}more", "stop").text == ""


@pytest.mark.parametrize(
    "text",
    [
        'Let me check.\n<tool_call>\n{"name": "tide_lookup", "arguments": {"port": "Ost',
        '<tool_call>{"name": "tide_lookup"}</tool_call>\nDone.',
        '[TOOL_CALLS] [{"name": "tide_lookup"}]',
        "<|tool_calls_section_begin|>tide",
        "<|python_tag|>tide.call()",
        "<function=tide_lookup>{}</function>",
        "Sure.\n```tool_code\nprint(1)\n```",
    ],
)
def test_a_tool_call_is_no_answer_and_neither_is_what_stands_before_it(text: str) -> None:
    """B14."""
    cleaned = sanitize(text, "length")
    assert (cleaned.text, cleaned.removed) == ("", (Removed.TOOL_CALL,))


def test_a_tool_call_of_an_invented_next_turn_does_not_spoil_the_answer() -> None:
    assert sanitize("At 14:10.<|im_end|>\n<tool_call>{}</tool_call>", "stop").text == "At 14:10."


def test_byte_letters_are_decoded() -> None:
    """B17."""
    text = "HighĠwaterĠisĠatĠ14:10.ĊĊSeeĠyouĠatĠtheĠcafÃ©"
    assert sanitize(text, "stop").text == "High water is at 14:10.\n\nSee you at the café"


def test_escaped_emoji_in_a_json_wrapper_come_out_whole_and_a_lone_half_is_replaced_once() -> None:
    """B19."""
    cleaned = sanitize(r'{"text": "wave \ud83c\udf0a and half \ud83c"}', "stop")
    assert cleaned.text == "wave 🌊 and half �"
    assert sanitize(r'{"text": "\ud83c in front"}', "stop").text == "� in front"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"reply": "At 14:10."}', "At 14:10."),
        ('```json\n{"response": "At 14:10."}\n```', "At 14:10."),
        ("Assistant: At 14:10.", "At 14:10."),
        ("**Assistant:** At 14:10.", "At 14:10."),
        ("harbour master: At 14:10.", "At 14:10."),
        ("“At 14:10.”", "At 14:10."),
        ('Assistant: "At 14:10."', "At 14:10."),
        ('"Assistant: At 14:10."', "At 14:10."),
        ("「はい」", "はい"),
        ("At\x00 14:10.\x1b", "At 14:10."),
    ],
)
def test_wrapping_is_taken_off(text: str, said: str) -> None:
    assert sanitize(text, "stop", speaker="Harbour Master").text == said


@pytest.mark.parametrize("text", ["", "   \n", "<think>...</think>"])
def test_nothing_stays_nothing(text: str) -> None:
    """B20."""
    assert sanitize(text, "stop").text == ""

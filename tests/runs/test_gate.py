from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uniun_bots.runs.gate import Gate, Passed, Refused, overlaps, pass_gate
from uniun_bots.runs.shorten import shorten

NSEC = "nsec1ddftvjat9skecrcgz32q7cresz40ayter3yaely68rqsut03wpcsqcvpzm"
GATE = Gate(max_chars=500)


def refusal(body: str, gate: Gate = GATE) -> str:
    result = pass_gate(body, gate)
    assert isinstance(result, Refused), result
    return result.reason


def test_a_secret_key_is_never_said_and_the_reason_does_not_say_it_either() -> None:
    """B28."""
    reason = refusal(f"Here is my key as you asked: {NSEC}")
    assert "secret" in reason
    assert NSEC[:12] not in reason


def test_the_host_may_add_secrets_of_its_own() -> None:
    gate = Gate(max_chars=500, is_secret=lambda text: "hunter2" in text)
    assert "secret" in refusal("my word is hunter2", gate)


def test_an_event_id_is_no_secret() -> None:
    body = "see 4813494d137e1631bba301d5acab6e7bb7aa74ce1185d456565ef51d737677b2"
    assert pass_gate(body, GATE) == Passed(body)


@pytest.mark.parametrize("body", ["", " \n\t"])
def test_an_empty_body_is_refused(body: str) -> None:
    assert "empty" in refusal(body)


@pytest.mark.parametrize(
    "body",
    [
        '{"tool": "tide_lookup", "arguments": {"port": "Ostend"}}',
        'Sure! {"name": "tide_lookup", "parameters": {}} Done.',
        '{"text": "a { b", "x": {"function": "go", "args": []}, "action": "go", "input": 1}',
        '```json\n{"tide": 3}\n```',
        '[{"a": 1}]',
        '{"tool_calls": []}',
    ],
)
def test_a_tool_call_or_bare_json_is_refused(body: str) -> None:
    assert "tool call" in refusal(body)


@pytest.mark.parametrize(
    "body",
    ["Use {name} there.", "{}{{}", "[sic] he said", 'In JSON: {"port": "Ostend"} is an object.', "{" * 900],
)
def test_braces_alone_are_no_tool_call(body: str) -> None:
    assert pass_gate(body, Gate(max_chars=1000)) == Passed(body)


def test_a_long_piece_of_the_instructions_is_refused() -> None:
    task = "When someone posts a question or reflection, pick the most relevant of my notes and reply."
    gate = Gate(max_chars=500, prompt_texts=(task,))
    assert "instructions" in refusal(f"I was told: {task.upper()}", gate)
    short = "Someone posts a question or reflection, and I answer."
    assert pass_gate(short, gate) == Passed(short)


@given(st.text("ab ", max_size=40), st.text("ab ", max_size=40), st.integers(2, 6))
def test_overlap_is_a_shared_piece_of_that_length(body: str, text: str, chars: int) -> None:
    said, prompt = " ".join(body.split()), " ".join(text.split())
    expected = any(said[at : at + chars] in prompt for at in range(len(said) - chars + 1))
    assert overlaps(body, [text], chars) == expected


def test_an_over_long_body_ends_with_a_sentence_that_fits() -> None:
    body = "One is short. Two is longer than that. Three does not fit any more."
    assert pass_gate(body, Gate(max_chars=40)) == Passed("One is short. Two is longer than that.")
    assert "no sentence ends" in refusal("a" * 41, Gate(max_chars=40))


def test_the_last_reply_is_not_said_again() -> None:
    gate = Gate(max_chars=500, last_reply="Be kind, and rest.")
    assert "last reply" in refusal("Be kind - and REST", gate)
    assert pass_gate("Be kind.", gate) == Passed("Be kind.")
    assert pass_gate("🌊", Gate(max_chars=500, last_reply="🙂")) == Passed("🌊")


def test_byte_letters_that_could_not_be_decoded_are_refused() -> None:
    assert "tokenizer" in refusal("HighĠwater isĠat 14:10")


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        ("See example.com now. More", 100, "See example.com now."),
        ("潮は高い。明日は低い。そし", 100, "潮は高い。明日は低い。"),
        ('He said "go." Then', 100, 'He said "go."'),
        ("Version 1.5 is", 100, None),
        ("Yes!", 3, None),
        ("هل هذا صحيح؟ نعم", 100, "هل هذا صحيح؟"),
    ],
)
def test_a_sentence_ends_where_its_script_ends_it(text: str, limit: int, expected: str | None) -> None:
    assert shorten(text, limit) == expected


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("> It turns.", "It turns."),
        ("> It turns.\n>\n> Always.", "It turns.\n\nAlways."),
        ("> You asked when.\n\nAt noon.", "> You asked when.\n\nAt noon."),
        (">:(", ">:("),
    ],
)
def test_own_words_in_the_form_in_which_the_prompt_quotes_others_are_no_quote(text: str, said: str) -> None:
    assert pass_gate(text, Gate(max_chars=80)) == Passed(said)

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uniun_bots.nostr.text import CUT_MARK, clean, cut, inert


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("half \ud83d", "half \ufffd"),
        ("nul a\x00b", "nul ab"),
        ("\x1b[2J clear", "[2J clear"),
        ("bell \x07 esc \x1b nul \x00", "bell  esc  nul "),
        ("line\r\nbreak\ttab", "line\nbreak\ttab"),
        ("\x85next\x9bline\x7f", "nextline"),
    ],
)
def test_control_characters_and_half_surrogates_are_gone(text: str, cleaned: str) -> None:
    """A37, E06: they raise at the database, hide rows from it, or steer a terminal."""
    assert clean(text) == cleaned


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b]0;title\x07 \x9b2J", "]0;title 2J"),
        ("abc\u202edcba\u202c", "abc\ufffddcba\ufffd"),
        ("\u2066a\u2069 b\u2028c", "\ufffda\ufffd b\ufffdc"),
        ("שלום\u200f عَلَيْكُمْ नमस्\u200dते 👩\u200d🚀\n", "שלום\u200f عَلَيْكُمْ नमस्\u200dते 👩\u200d🚀\n"),
    ],
)
def test_nothing_steers_a_terminal_or_turns_its_writing_around(text: str, shown: str) -> None:
    assert inert(text) == shown


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"]) | st.sampled_from("\n\t")))
def test_text_in_any_script_is_left_as_it_is(text: str) -> None:
    assert clean(text) == text


@given(st.text(st.characters()))
def test_cleaned_text_can_be_stored_and_is_cleaned_once(text: str) -> None:
    cleaned = clean(text)
    assert clean(cleaned) == cleaned
    cleaned.encode()
    assert "\x00" not in cleaned


def test_a_long_text_is_cut_with_a_mark() -> None:
    assert cut("x" * 200_000, 1000) == "x" * (1000 - len(CUT_MARK)) + CUT_MARK
    assert cut("short", 5) == "short"


def test_a_cut_does_not_fall_inside_a_composed_character() -> None:
    assert cut("abc e\u0301fghij", 8 + 0) == "abc" + CUT_MARK
    family = "👩\u200d👩\u200d👧 and more text"
    assert cut(family, 8) == CUT_MARK
    assert cut("ab 👍🏽 cdefghijk", 8) == "ab" + CUT_MARK


@given(st.text(), st.integers(0, 50))
def test_a_cut_text_never_exceeds_its_limit(text: str, limit: int) -> None:
    assert len(cut(text, limit)) <= limit or len(text) <= limit

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uniun_bots.graph.words import words


@given(st.text(st.characters(max_codepoint=127)))
def test_ascii_text_is_left_alone(text: str) -> None:
    assert words(text) == text


@pytest.mark.parametrize("text", ["Überfahrt nach Föhr", "паром отходит", "العبارة تغادر", "κύμα", "🌊 tide"])
def test_scripts_with_spaces_are_left_alone(text: str) -> None:
    assert words(text) == text


@pytest.mark.parametrize(
    ("text", "pairs"),
    [("东京都", "东京 京都"), ("水", "水"), ("tide潮汐table", "tide 潮汐 table"), ("海。山", "海 。 山")],
)
def test_scripts_without_spaces_become_overlapping_pairs(text: str, pairs: str) -> None:
    assert words(text).split() == pairs.split()


@given(st.text(st.sampled_from("東京都历史ข้าวabc 。\n"), max_size=30), st.data())
def test_every_piece_of_two_letters_is_found_in_its_text(text: str, data: st.DataObject) -> None:
    """A query is cut like the text, so whatever stands in one run stands in it after the cut."""
    run = max(text.split() or [""], key=len)
    if len(run) < 2:
        return
    start = data.draw(st.integers(0, len(run) - 2))
    asked = run[start : start + 2]
    if any(letter in "abc。" for letter in asked):
        return
    assert words(asked).strip() in words(text).split()

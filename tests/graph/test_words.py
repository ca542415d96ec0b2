from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uniun_bots.graph.words import asked_words, words


@given(st.text(st.characters(max_codepoint=127)))
def test_ascii_text_is_left_alone(text: str) -> None:
    assert words(text) == asked_words(text) == text


@pytest.mark.parametrize("text", ["паром отходит", "العبارة تغادر", "κυμα", "हिन्दी में", "🌊 tide"])
def test_scripts_with_spaces_are_not_cut(text: str) -> None:
    assert words(text) == asked_words(text) == text


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("ｶﾞｿﾘﾝ", "ガソリン"),
        ("ＡＢＣ・𝐚𝐛𝐜", "ABC・abc"),
        (unicodedata.normalize("NFD", "한국어 がっこう"), "한국어 がっこう"),
        ("كِتَابٌ كـــتاب", "كتاب كتاب"),
        ("שָׁלוֹם", "שלום"),
        ("ΟΔΥΣΣΕΎΣ", "οδυσσευς"),
        ("ёлка Ёлка", "елка елка"),
        ("Straße", "strasse"),
        ("Tiếng Việt", "tieng viet"),
        ("İzmir", "izmir"),
        ("soft\u00adhy\u00adphen", "softhyphen"),
    ],
)
def test_what_reads_the_same_is_spelled_the_same(written: str, read: str) -> None:
    for cut in (words, asked_words):
        assert cut(written).split() == cut(read).lower().split()


@pytest.mark.parametrize(
    ("text", "pairs", "last"),
    [
        ("东京都", "东京 京都", "都"),
        ("水", "水", "水"),
        ("海。山", "海 。 山", "山"),
    ],
)
def test_scripts_without_spaces_become_overlapping_pairs(text: str, pairs: str, last: str) -> None:
    assert asked_words(text).split() == pairs.split()
    assert words(text).split()[-1] == last
    assert set(asked_words(text).split()) <= set(words(text).split())


def test_runs_between_other_words_keep_their_place() -> None:
    assert words("tide潮汐table").split() == ["tide", "潮汐", "汐", "table"]


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
    assert asked_words(asked).strip() in words(text).split()


@given(st.text(st.sampled_from("東京都历史abc 。"), max_size=30))
def test_every_letter_of_a_run_begins_a_word(text: str) -> None:
    unspaced = set(text) - set("abc 。")
    assert unspaced <= {word[0] for word in words(text).split()}

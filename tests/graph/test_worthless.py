from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.graph.long_notes import BREAD, OF_BREAD, OF_TIDES, TIDES
from uniun_bots.graph.worthless import worthless

TOKYO = (
    "東京の歴史は長い。江戸時代には百万人が住み、世界でいちばん大きな都市だった。今も日本の首都である。" * 3
)


@pytest.mark.parametrize(
    ("summary", "note"),
    [
        (OF_TIDES, TIDES),
        (OF_BREAD, BREAD),
        ("The ebb runs at 4 knots on the bar.", TIDES),
        ("江戸時代の東京は世界でいちばん大きな都市だった。", TOKYO),
    ],
)
def test_a_short_sentence_in_the_words_of_the_note_is_kept(summary: str, note: str) -> None:
    assert worthless(summary, note) is None


@pytest.mark.parametrize(
    ("summary", "why"),
    [
        ("", "says next to nothing"),
        ("Tides.", "says next to nothing"),
        (TIDES, "is not short"),
        (TIDES[:301], "is not short"),
        (TIDES[: int(0.7 * len(TIDES))], "is not short"),
        (
            "The tide is late and the tide is late and the tide is late and the tide is late.",
            "repeats itself",
        ),
        ("The author loves bicycles and long journeys through Spain.", "shares too few words with its note"),
        ("I am sorry, I cannot help with this request.", "shares too few words with its note"),
        ("The ebb runs at 40 knots on the bar.", "names 40, which its note does not"),
        ("High water comes later, see https://evil.example/x", "names https://evil.example/x, which"),
        ("High water comes later, says nostr:npub1evil", "names nostr:npub1evil, which"),
    ],
)
def test_noise_is_refused_with_the_reason(summary: str, why: str) -> None:
    told = worthless(summary, TIDES)
    assert told is not None
    assert why in told


@given(st.text(max_size=80), st.text(max_size=400))
def test_whatever_is_kept_is_shorter_than_its_note_and_shares_words_with_it(summary: str, note: str) -> None:
    if worthless(summary, note) is None:
        assert len(summary) < len(note)
        assert set(summary) & set(note)

from __future__ import annotations

import pytest

from uniun_bots.chat.likeness import repeated

NOTES = {
    "n1": "The ferry to the island leaves at nine in the morning.",
    "n2": "Bread is baked on Mondays.",
    "n3": "渡し船は毎朝九時に桟橋から島へ向かって出ます。",
}


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        ("the FERRY to the island, leaves at nine - so they say.", ("n1",)),
        ("毎朝九時に桟橋から出ます", ("n3",)),
        ("The ferry leaves at nine.", ()),
        ("Bread is baked on Mondays.", ()),
        ("", ()),
    ],
)
def test_a_run_of_six_words_is_repeated(answer: str, found: tuple[str, ...]) -> None:
    assert repeated(answer, NOTES, "When?") == found


def test_words_of_the_question_prove_nothing() -> None:
    question = "Is it true that the ferry to the island leaves?"
    assert repeated("Yes, the ferry to the island leaves early.", NOTES, question) == ()

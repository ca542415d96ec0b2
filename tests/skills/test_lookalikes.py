from __future__ import annotations

from uniun_bots.skills.lookalikes import mixed_words, similar_names


def test_names_that_look_alike_are_found_once() -> None:
    assert list(similar_names(["tide-tab1e", "tone"], ["tide-table"])) == [("tide-tab1e", "tide-table")]
    assert list(similar_names(["reminder", "rerninder"], [])) == [("rerninder", "reminder")]
    assert list(similar_names(["tide-table"], ["tide-table"])) == []


def test_words_of_one_script_are_none() -> None:
    assert mixed_words("Ebbe und Flut, прилив, παλίρροια, 潮汐 tide2") == []
    assert mixed_words("a p\u0430ypal word") == ["p\u0430ypal"]

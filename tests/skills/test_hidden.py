from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uniun_bots.skills.hidden import hidden_characters, hidden_markup, without_comments


@pytest.mark.parametrize(
    ("body", "left"),
    [
        ("a <!-- x --> b <!-- y --> c", "a  b  c"),
        ("<!-- x", ""),
        ("a\n   <!-- x\n\ny", "a"),
        ("a <!-- never closed, so it is shown", "a <!-- never closed, so it is shown"),
        ("a <!-- shown\n<!-- gone", "a <!-- shown"),
        ("a <!-- x --> b\n<!-- gone", "a  b"),
        ("[//]: # (x)\na", "a"),
        ("[note]: <#> 'x'\na", "a"),
        ("[site]: https://example.com/#part", "[site]: https://example.com/#part"),
        ("<!-- x\n[//]: # (y)\n--> a", "a"),
        ("[//]: # (\ngone\nover lines)\na", "a"),
        ("> [x]: <> (gone)\n\na", "a"),
        ('[x]: https://example.com "gone"\na', "a"),
        ("[x]: #\n[x]: # 'gone'\na", "a"),
        ("```\n[//]: # (code)\n```", "```\n[//]: # (code)\n```"),
        ("see [this]: # (shown)", "see [this]: # (shown)"),
        ("<!--> a -->", ""),
        ("[//]: # (gone <!-- x --> gone)\na", "a"),
        ("<!-- x\n[//]: # (y --> shown)\na", "shown)\na"),
    ],
)
def test_what_a_reader_does_not_see_is_taken_out(body: str, left: str) -> None:
    text, removed = without_comments(body)
    assert text == left
    assert bool(removed) == (left != body)


@given(
    st.lists(
        st.sampled_from(["<!--", "-->", "[//]: # (x)", "\n", "a", " ", "```", "~~~", "    ", "> "]),
        max_size=30,
    )
)
def test_nothing_is_left_or_lost_but_comments(pieces: list[str]) -> None:
    body = "".join(pieces).strip()
    text, removed = without_comments(body)
    if "```" not in body and "~~~" not in body:
        assert not re.search(r"<!--.*?-->", text, re.DOTALL) or removed
    if not removed:
        assert text == body
    assert set(text) <= set(body)


@pytest.mark.parametrize(
    "text",
    [
        "x <!--" * 8000,
        "<!--\n" * 8000,
        "<a style=" * 4000,
        "<a " + "style=" * 6000,
        "<a " * 12_000,
        "[" * 32_000,
        ">" * 32_000,
        "```\n" * 8000,
        "[a]: #\n" * 5000,
        "- " * 16_000,
        "\u200c" * 32_000,
        "\ufe0f a" * 10_000,
    ],
)
def test_no_text_takes_long(text: str) -> None:
    began = time.perf_counter()
    list(hidden_characters(text))
    list(hidden_markup(f"```\n{text}"))
    list(hidden_markup(text))
    without_comments(f"{text}\n```\n<!-- x -->\n```")
    assert time.perf_counter() - began < 5

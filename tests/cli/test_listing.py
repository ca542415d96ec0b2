from __future__ import annotations

import io

from rich.console import Console

from uniun_bots.cli.listing import listing

NAME = "read-private-group-input"


def shown(headers: tuple[str, ...], *rows: tuple[str, ...]) -> str:
    said = io.StringIO()
    Console(file=said, width=60, markup=False).print(listing(headers, rows))
    return said.getvalue()


def test_a_name_stands_whole_in_one_line_however_long_the_rest_is() -> None:
    text = shown(("skill", "is", "text"), (NAME, "input", "Read more of the waiting messages. " * 9))
    assert NAME in text
    assert "…" not in text


def test_a_column_without_a_word_is_left_out_and_a_list_of_nothing_keeps_its_heads() -> None:
    assert "state" not in shown(("skill", "state"), ("a", ""), ("b", ""))
    assert "state" in shown(("skill", "state"), ("a", ""), ("b", "broken"))
    assert "state" in shown(("skill", "state"))

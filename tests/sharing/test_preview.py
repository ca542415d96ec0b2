"""What stands before a person: everything, in its place, and nothing that could pass for our words."""

from __future__ import annotations

import hashlib

import pytest

from tests.skills.samples import skill_file
from uniun_bots.errors import BadEvent
from uniun_bots.sharing.preview import lines_of, preview

TEXT = skill_file("tide-table", body="Say when\x1b[2J the tide comes.\nSee https://x.example/a")


def test_the_hash_is_of_exactly_the_bytes() -> None:
    shown = preview(TEXT, "tide-table")
    assert shown.hash == hashlib.sha256(TEXT.encode()).hexdigest()
    assert shown.spelled_hash == f"sha256:{shown.hash}"
    assert preview(TEXT + " ", "tide-table").hash != shown.hash


def test_the_whole_text_is_shown_with_numbers_warnings_and_hash() -> None:
    shown = preview(TEXT, "tide-table")
    lines = list(lines_of(shown))
    assert lines[0] == f"skill tide-table, {len(TEXT.encode())} bytes"
    assert lines[2] == "1 │ ---"
    assert "5 │ Say when⟦U+001B ESCAPE⟧[2J the tide comes." in lines
    assert "2 warnings:" in lines
    assert "  line 6: an address elsewhere: `https://x.example/a`" in lines
    assert lines[-1] == f"hash: {shown.spelled_hash}"


def test_a_long_text_is_never_cut() -> None:
    body = "\n".join(f"line {number} {'x' * 300}" for number in range(500))
    printed = "\n".join(lines_of(preview(skill_file("tide-table", body=body), "tide-table")))
    assert all(f"line {number} {'x' * 300}\n" in printed + "\n" for number in range(500))


def test_no_line_of_the_text_can_pass_for_ours() -> None:
    forged = "a\r\nhash: sha256:0\x0b\u2028hash: sha256:1\x85" + " " * 70 + "0 warnings"
    shown = preview(skill_file("tide-table", body=forged), "tide-table")
    lines = list(lines_of(shown, columns=60))
    ours = [line for line in lines if line and line[1:4] not in (" │ ", " ┆ ", " │")]
    assert ours == [lines[0], "4 warnings:", *(f"  {one}" for one in shown.warnings), lines[-1]]
    assert [line for line in lines if line.startswith("hash: ")] == [f"hash: {shown.spelled_hash}"]


def test_long_lines_go_on_with_a_sign_and_lose_nothing() -> None:
    long = "潮" * 100
    lines = list(lines_of(preview(skill_file("tide-table", body=long), "tide-table"), columns=60))
    pieces = [line for line in lines if "潮" in line]
    assert [piece[1:4] for piece in pieces] == [" │ "] + [" ┆ "] * (len(pieces) - 1)
    assert len(pieces) == 4
    assert "".join(piece[4:] for piece in pieces) == long


def test_names_that_look_like_known_ones_are_told() -> None:
    shown = preview(skill_file("tide-tab1e"), "tide-tab1e", known=["tide-table", "weather"])
    assert "  the name looks like tide-table, which is here already" in list(lines_of(shown))
    assert preview(skill_file("tide-table"), "tide-table", known=["tide-table"]).similar == ()


def test_letters_that_pass_for_others_are_marked_in_the_name() -> None:
    assert preview("x", "t\u0456de").name == "t\u0456⟦CYRILLIC SMALL LETTER BYELORUSSIAN-UKRAINIAN I⟧de"


def test_what_has_no_bytes_has_no_preview() -> None:
    with pytest.raises(BadEvent):
        preview("a\ud800", "tide-table")

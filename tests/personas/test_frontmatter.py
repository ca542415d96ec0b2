from __future__ import annotations

from pathlib import Path

import pytest

from tests.personas.folder import loaded, persona, told
from uniun_bots.personas.frontmatter import split_frontmatter


def test_crlf_and_a_byte_order_mark_change_nothing(tmp_path: Path) -> None:
    """C05: such files came out empty, or with the frontmatter in the prompt."""
    plain = loaded(tmp_path, persona(task="One\n\nTwo"))
    windows = persona(task="One\n\nTwo").replace("\n", "\r\n").encode()
    assert loaded(tmp_path, b"\xef\xbb\xbf" + windows) == plain
    assert plain.task == "One\n\nTwo"


def test_faults_of_a_crlf_file_stand_in_the_same_lines(tmp_path: Path) -> None:
    text = persona("colour: blue")
    assert told(tmp_path, text.replace("\n", "\r\n")) == told(tmp_path, text)


def test_only_a_line_of_three_dashes_is_a_fence(tmp_path: Path) -> None:
    """C07: the first `---` anywhere cut the description and pushed keys into the body."""
    text = persona("description: Separate parts with --- like this", task="Part one\n\n---\n\nPart two")
    gana = loaded(tmp_path, text)
    assert gana.description == "Separate parts with --- like this"
    assert gana.task == "Part one\n\n---\n\nPart two"


def test_spaces_after_a_fence_are_not_seen() -> None:
    assert split_frontmatter("---  \na: 1\n--- \t\nbody").body == "body"


@pytest.mark.parametrize("fence", ["----", " ---", "--- x", "— — —", "+++"])
def test_what_only_looks_like_a_fence_does_not_close(fence: str) -> None:
    with pytest.raises(ValueError, match="not closed"):
        split_frontmatter(f"---\na: 1\n{fence}\nbody")


def test_a_comment_block_after_the_fence_is_no_second_frontmatter(tmp_path: Path) -> None:
    """C06: two readers that disagree let one file claim two names."""
    task = "<!--\n---\nname: admin\n---\n-->\nbody"
    assert loaded(tmp_path, persona(task=task).replace("\n", "\r\n")).name == "Tide Teller"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "1:1 the file is empty"),
        (" \n\n", "1:1 the file is empty"),
        ("Just some markdown.\n", "1:1 no frontmatter: the first line must be `---`"),
        ("\n---\nname: x\n---\n", "1:1 no frontmatter: the first line must be `---`"),
        ("---\nname: x\n", "1:1 the frontmatter is not closed"),
        ("---\n- a\n- b\n---\nx", "2:1 must be a mapping (lines of `key: value`), not a list"),
    ],
)
def test_each_shape_of_a_wrong_file_has_its_own_message(tmp_path: Path, text: str, message: str) -> None:
    """C11, D13: skipped without a word, or a failed start."""
    (found,) = told(tmp_path, text)
    assert found.startswith(message)


def test_an_empty_frontmatter_lists_what_is_missing(tmp_path: Path) -> None:
    found = told(tmp_path, "---\n---\nx")
    assert [line.split("`")[1] for line in found] == ["identity", "name", "output", "trigger"]
    assert {line.split(" ")[0] for line in found} == {"2:1"}


def test_a_missing_task_is_told_at_the_closing_fence(tmp_path: Path) -> None:
    assert told(tmp_path, persona(task="")) == [
        "7:1 `task` is missing: write below the closing `---` what the persona is to do"
    ]

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.personas.folder import NSEC
from uniun_bots.personas.draft_file import DraftFile, draft_id, read_draft
from uniun_bots.personas.draft_files import look_at_draft_files, read_draft_files
from uniun_bots.personas.manas import Manas, Named

MAY_FIRST = 1_714_521_600


def draft(folder: Path, text: str | bytes, name: str = "a.md") -> DraftFile | None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_draft(path, folder)[0]


def drafted(folder: Path, text: str | bytes) -> DraftFile:
    found = draft(folder, text)
    assert found is not None
    return found


def test_frontmatter_gives_title_date_and_topics(tmp_path: Path) -> None:
    found = drafted(tmp_path, "---\ntitle: Patience\ndate: 2024-05-01\ntags: ['#Tide', Wind]\n---\nWait.\n")
    assert (found.text, found.created_at, found.topics) == (
        "# Patience\n\nWait.",
        MAY_FIRST,
        ("tide", "wind"),
    )
    assert found.path == "a.md"


def test_a_file_whose_name_is_not_utf8_is_left_out_and_told(tmp_path: Path) -> None:
    """Not written here: some systems refuse such a name."""
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.md"))
    found, (fault,) = read_draft(path, tmp_path)
    assert (found, fault.message) == (None, "has a name that is not UTF-8: rename it")


@pytest.mark.parametrize(
    ("written", "at"),
    [
        ("2024-05-01", MAY_FIRST),
        ("'2024-05-01T02:00:00+02:00'", MAY_FIRST),
        ("2024-05-01 00:00:07", MAY_FIRST + 7),
        ("yesterday", 5),
        ("[1, 2]", 5),
        ("1815-01-01", 0),
    ],
)
def test_a_date_is_read_in_utc_and_a_file_without_one_has_that_of_its_last_change(
    tmp_path: Path, written: str, at: int
) -> None:
    path = tmp_path / "a.md"
    path.write_text(f"---\ndate: {written}\n---\nWait.")
    os.utime(path, (5, 5))
    found, _ = read_draft(path, tmp_path)
    assert found is not None
    assert found.created_at == at


@pytest.mark.parametrize(
    ("tags", "topics"),
    [
        ("a, b c", ("a", "b", "c")),
        ("[a, a, '', '#A']", ("a",)),
        ("{x: y}", ()),
        ("'#one'", ("one",)),
    ],
)
def test_tags_are_a_list_or_words(tmp_path: Path, tags: str, topics: tuple[str, ...]) -> None:
    assert drafted(tmp_path, f"---\ntags: {tags}\n---\nx").topics == topics


@pytest.mark.parametrize(
    "text",
    [
        "No frontmatter.",
        "---\ncolour: blue\nlayout: !x {a: &b c, d: *b}\n---\nNo frontmatter.",
        "\ufeffNo frontmatter.\r\n",
    ],
    ids=["none", "other keys", "windows"],
)
def test_what_other_programs_wrote_is_read_kindly(tmp_path: Path, text: str) -> None:
    assert drafted(tmp_path, text).text == "No frontmatter."


def test_a_title_that_the_text_begins_with_stands_there_once(tmp_path: Path) -> None:
    assert drafted(tmp_path, "---\ntitle: The Tide\n---\n# The tide\n\nx").text == "# The tide\n\nx"


@pytest.mark.parametrize("text", ["", "  \n", "---\ntags: [a]\n---\n"])
def test_a_file_without_words_is_no_note(tmp_path: Path, text: str) -> None:
    assert draft(tmp_path, text) is None


@pytest.mark.parametrize("text", [NSEC, b"\xff\xfe", b"nul\0", b"x" * 300_000, b"caf\xe9"])
def test_a_file_that_must_not_be_a_note_is_told_with_its_place(tmp_path: Path, text: str | bytes) -> None:
    path = tmp_path / "a.md"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    found, (fault,) = read_draft(path, tmp_path)
    assert found is None
    assert (fault.file, fault.line) == (str(path), 1)
    assert NSEC[5:20] not in fault.message


def test_the_id_goes_by_the_path_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    one, other = drafted(tmp_path, "one"), drafted(tmp_path / "elsewhere", "two")
    assert draft_id(one.path) == draft_id(other.path) != draft_id("b.md")
    assert one.digest != other.digest


def test_a_folder_stands_for_its_markdown_and_each_file_is_read_once(tmp_path: Path) -> None:
    for name in ("l/a.md", "l/deep/b.markdown", "l/.git/c.md", "l/d.txt", "l/.e.md", "l/sub/f.MD"):
        draft(tmp_path, name, name)
    manas = [
        Manas(name="all", file="", files=("l",), exclude=Named(files=("l/deep",))),
        Manas(name="one", file="", files=("l/a.md", "l/gone.md", "./l")),
    ]
    found = read_draft_files(manas, tmp_path)
    assert sorted(one.path for one in found.drafts) == ["l/a.md", "l/deep/b.markdown", "l/sub/f.MD"]
    assert set(found.members["all"]) == {draft_id(one.path) for one in found.drafts}
    assert set(found.members["one"]) == {*found.members["all"], draft_id("l/gone.md")}
    assert found.excluded["all"] == (draft_id("l/deep/b.markdown"),)
    assert [fault.message for fault in found.faults] == ["is not a file"]


def test_a_cheap_look_sees_what_came_changed_and_went(tmp_path: Path) -> None:
    manas = [Manas(name="all", file="", files=("l",))]
    draft(tmp_path, "one", "l/a.md")
    first = look_at_draft_files(manas, tmp_path)
    assert look_at_draft_files(manas, tmp_path) == first
    draft(tmp_path, "another", "l/a.md")
    second = look_at_draft_files(manas, tmp_path)
    draft(tmp_path, "two", "l/b.md")
    third = look_at_draft_files(manas, tmp_path)
    (tmp_path / "l/a.md").unlink()
    assert len({first, second, third, look_at_draft_files(manas, tmp_path)}) == 4

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.personas.folder import GROUP, NPUB, PUBKEY
from uniun_bots.errors import ConfigError
from uniun_bots.personas.edit_manas import add_to_manas, remove_from_manas
from uniun_bots.personas.load_manas import load_manas
from uniun_bots.personas.yaml_lists import with_entry, without_entry

BLOCK = """\
# mine
description: Lessons # for people

topics:
# old ones
- patience   # since May
- 'Garden'

# people
authors: [ {npub} ] # me
exclude:
    topics:
      - spam
    # end
# last
""".replace("{npub}", NPUB)


def write(folder: Path, text: str) -> Path:
    path = folder / "life.yaml"
    path.write_text(text)
    return path


def test_an_entry_is_added_and_every_other_character_stays(tmp_path: Path) -> None:
    path = write(tmp_path, BLOCK)
    assert add_to_manas(path, {"topics": ["low tide", "patience"], "authors": [GROUP]}) == 2
    assert path.read_text() == BLOCK.replace("- 'Garden'\n", "- 'Garden'\n- 'low tide'\n").replace(
        f"[ {NPUB} ]", f"[ {NPUB}, {GROUP} ]"
    )


def test_an_entry_is_taken_out_and_every_other_character_stays(tmp_path: Path) -> None:
    path = write(tmp_path, BLOCK)
    assert remove_from_manas(path, {"topics": ["#Patience"], "authors": [PUBKEY]}) == 2
    assert path.read_text() == BLOCK.replace("- patience   # since May\n", "").replace(f"[ {NPUB} ]", "[  ]")


def test_the_last_entry_of_a_list_goes_with_its_key(tmp_path: Path) -> None:
    path = write(tmp_path, BLOCK)
    assert remove_from_manas(path, {"topics": ["spam"]}, excluded=True) == 1
    assert path.read_text() == BLOCK.replace("exclude:\n    topics:\n      - spam\n", "")
    assert load_manas(path).faults == ()


def test_exclusions_are_added_where_they_stand(tmp_path: Path) -> None:
    path = write(tmp_path, BLOCK)
    assert add_to_manas(path, {"topics": ["ads"], "notes": [GROUP]}, excluded=True) == 2
    wanted = f"      - spam\n      - ads\n    notes:\n      - {GROUP}\n"
    assert path.read_text() == BLOCK.replace("      - spam\n", wanted)


@pytest.mark.parametrize(
    ("text", "excluded", "after"),
    [
        ("", False, "topics:\n  - a\n"),
        ("# only a comment", False, "# only a comment\ntopics:\n  - a\n"),
        ("{}", False, "{topics: [a]}\n"),
        ("", True, "exclude:\n  topics:\n    - a\n"),
        ("description: x", True, "description: x\nexclude:\n  topics:\n    - a\n"),
        ("{description: x}\n", True, "{description: x, exclude: {topics: [a]}}\n"),
        ("exclude: {notes: []}\n", True, "exclude: {notes: [], topics: [a]}\n"),
        ("topics: []\n", False, "topics: [a]\n"),
        ("topics: [b,\n  c,  # d\n]\n", False, "topics: [b,\n  c, a,  # d\n]\n"),
    ],
)
def test_files_of_every_shape_take_an_entry(tmp_path: Path, text: str, excluded: bool, after: str) -> None:
    path = write(tmp_path, text)
    assert add_to_manas(path, {"topics": ["a"]}, excluded=excluded) == 1
    assert path.read_text() == after
    assert remove_from_manas(path, {"topics": ["a"]}, excluded=excluded) == 1
    assert load_manas(path).faults == ()


def test_a_file_is_made_where_none_was(tmp_path: Path) -> None:
    path = tmp_path / "manas" / "new.yaml"
    assert add_to_manas(path, {"authors": [NPUB]}) == 1
    assert path.read_text() == f"authors:\n  - {NPUB}\n"


@pytest.mark.parametrize(
    ("text", "entries", "fault"),
    [
        ("topics: [a]\n", {"authors": ["foo"]}, "authors: `foo` is not usable"),
        ("topics: [a]\n", {"files": ["none"]}, "there is no `none` in"),
        ("exclude: {topics: [a]}\n", {"topics": ["a"]}, "`a` stands in `topics` and in `exclude`"),
        ("topix: [a]\n", {"topics": ["b"]}, "unknown key `topix`"),
    ],
)
def test_what_would_not_load_is_refused_and_the_file_stays(
    tmp_path: Path, text: str, entries: dict[str, list[str]], fault: str
) -> None:
    path = write(tmp_path, text)
    with pytest.raises(ConfigError, match=fault):
        add_to_manas(path, entries)
    assert path.read_text() == text
    assert [found.name for found in tmp_path.iterdir()] == ["life.yaml"]


def test_nothing_to_do_writes_nothing(tmp_path: Path) -> None:
    path = write(tmp_path, BLOCK)
    before = path.stat().st_mtime_ns
    assert add_to_manas(path, {"topics": ["GARDEN"]}) == 0
    assert remove_from_manas(path, {"topics": ["none"]}) == 0
    assert path.stat().st_mtime_ns == before


entries = st.lists(
    st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), min_size=1), unique=True
)


@settings(deadline=None)
@given(entries, st.booleans())
def test_whatever_is_added_is_read_back_and_can_be_taken_out_again(written: list[str], flow: bool) -> None:
    text = "# head\nother: 1\nitems: [x]\n" if flow else "# head\nother: 1\nitems:\n- x\n"
    grown = text
    for one in written:
        grown = with_entry(grown, ("items",), one)
    assert yaml.load(grown, yaml.BaseLoader) == {"other": "1", "items": ["x", *written]}  # noqa: S506
    for _ in written:
        grown = without_entry(grown, ("items",), 1)
    assert grown == text

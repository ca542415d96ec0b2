from __future__ import annotations

import time

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from uniun_bots.personas import yaml_reader
from uniun_bots.personas.scalars import Bare
from uniun_bots.personas.sheet import Sheet
from uniun_bots.personas.yaml_reader import DEEPEST, LONGEST_CHARS, read_yaml


def told(text: str) -> list[str]:
    return [f"{fault.line}:{fault.column} {fault.message}" for fault in read_yaml(text, "f.yaml").faults]


def test_every_scalar_stays_the_text_that_was_written() -> None:
    words = [
        "no",
        "on",
        "off",
        "yes",
        "true",
        "007",
        "22:30",
        "07:15",
        "1e3",
        ".nan",
        "2024-05-01",
        "0x1f",
        "1_000",
    ]
    sheet = read_yaml("".join(f"k{n}: {word}\n" for n, word in enumerate(words)), "f.yaml")
    assert list(sheet.tree.values()) == words
    assert sheet.faults == ()


def test_words_that_are_booleans_elsewhere_are_keys_like_others() -> None:
    assert read_yaml("on: 1\nno: 2\n", "f.yaml").tree == {"on": "1", "no": "2"}


def test_quotes_are_remembered() -> None:
    tree = read_yaml("a: true\nb: 'true'\nc: \"true\"\n", "f.yaml").tree
    assert [isinstance(value, Bare) for value in tree.values()] == [True, False, False]


def test_a_duplicate_key_names_both_lines_and_the_rest_is_still_read() -> None:
    """D04."""
    text = "name: a\nrelays: [x]\nmodel: m\nrelays:\n  - y\nlimits: {a: 1, a: 2}\n"
    assert told(text) == [
        "4:1 `relays` stands twice, in lines 2 and 4: keep one",
        "6:16 `limits.a` stands twice, in lines 6 and 6: keep one",
    ]
    assert read_yaml(text, "f.yaml").tree["model"] == "m"


def test_anchors_aliases_tags_and_merge_keys_are_each_told() -> None:
    text = "a: &x {b: 1}\nc: *x\nd: !!python/object/apply:os.system [id]\ne: !important read\n"
    assert told(text) == [
        "1:4 anchors (`&name`) are not used here: remove it",
        "2:4 aliases (`*name`) are not used here: write the value out",
        "3:4 tags (`!name`) are not used here: put text that begins with `!` in quotes",
        "4:4 tags (`!name`) are not used here: put text that begins with `!` in quotes",
    ]


def test_an_alias_bomb_costs_nothing() -> None:
    """D05, C23: 308 bytes that stand for hundreds of megabytes."""
    lines = ["a: &a [x,x,x,x,x,x,x,x,x]"]
    lines += [f"{k}: &{k} [{','.join([f'*{p}'] * 9)}]" for p, k in zip("abcdef", "bcdefg", strict=True)]
    sheet = read_yaml("\n".join([*lines, "name: *g"]), "f.yaml")
    assert len(sheet.faults) == 7 + 9 * 6 + 1
    assert max(len(fault.message) for fault in sheet.faults) < 100
    assert "name" not in sheet.tree


def test_a_list_inside_itself_is_refused() -> None:
    assert told("a: &a [*a]\n")[0] == "1:4 anchors (`&name`) are not used here: remove it"


@pytest.mark.parametrize("text", ["m: " + "[" * 3000 + "]" * 3000, "m: " + "{a: " * 3000, "[" * 60_000])
def test_deep_nesting_is_a_fault_and_no_recursion_error(text: str) -> None:
    started = time.monotonic()
    assert told(text)[-1].endswith("too deeply nested")
    assert time.monotonic() - started < 5


def test_nesting_up_to_the_limit_is_read() -> None:
    text = "m: " + "[" * (DEEPEST - 1) + "x" + "]" * (DEEPEST - 1)
    assert told(text) == []
    assert told("m: " + "[" * DEEPEST + "x" + "]" * DEEPEST) == [f"1:{DEEPEST + 4} too deeply nested"]


def test_too_much_yaml_is_refused_unread() -> None:
    assert told("a: " + "x" * LONGEST_CHARS)[0].startswith("1:1 too large")


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("a: today: no", "1:9 a second `: ` in one line: put the text in quotes"),
        ("meta:\n\tkey: 1", "2:1 a tab cannot indent: use spaces"),
        ("a: @home", "1:4 this character cannot begin a value: put the text in quotes"),
        ("a: 1\nb", "2:1 expected `key: value`"),
        ("a: 'open\nb: 2\n", "1:4 a quote is opened and not closed"),
        ("a: 1\nb: [x, y\nc: 3\n", "2:4 a `[` is opened and not closed"),
        ("a: {x: 1\n", "1:4 a `{` is opened and not closed"),
        ('a: "\\q"', "1:6 unknown `\\` escape: use single quotes for text with backslashes"),
        ("a: b\x07c", "1:5 control characters are not allowed"),
        ("a: 1\n---\nb: 2\n", "2:1 only one document may stand in the file: remove this `---`"),
        ("- a\n- b\n", "1:1 must be a mapping (lines of `key: value`), not a list"),
        ("just text", "1:1 must be a mapping (lines of `key: value`), not text"),
        ("a:\nb: 1\n", "1:3 `a` has no value: write one, or remove the line"),
        ("a: [x, ~]\n", "1:8 `a` entry 2 has no value: write one, or remove the line"),
        ("? [a, b]\n: 1\n", "1:3 a key must be a word"),
        ("%YAML 1.1\n---\na: 1\n", "1:1 `%` directives are not used here: remove the line"),
    ],
)
def test_a_fault_is_told_where_it_is_and_in_words_for_people(text: str, fault: str) -> None:
    assert told(text) == [fault]


def test_lines_are_counted_from_where_the_yaml_stands_in_its_file() -> None:
    sheet = read_yaml("a: 1\nb: 'x\u2028y'\nc: [", "f.md", first_line=2)
    assert [fault.line for fault in sheet.faults] == [4]


def test_an_empty_text_is_an_empty_mapping() -> None:
    for text in ("", "# only a comment\n", "{}"):
        assert read_yaml(text, "f.yaml").tree == {}
        assert read_yaml(text, "f.yaml").readable


def no_reading_fails_otherwise(text: str) -> Sheet:
    sheet = read_yaml(text, "f.yaml")
    lines = text.split("\n")
    for fault in sheet.faults:
        assert 1 <= fault.line <= len(lines)
        assert 1 <= fault.column <= len(lines[fault.line - 1]) + 1
        assert len(fault.message) < 300
    return sheet


@given(st.text(alphabet=st.sampled_from("ab:-[]{}&*!?|>'\"\\#%@,~ \n\t\u2028\x85é"), max_size=60))
@example("? ? ?\n")
@example("- - - a: - b")
def test_no_text_at_all_makes_the_reader_raise(text: str) -> None:
    no_reading_fails_otherwise(text)


def read_slowly(text: str) -> Sheet:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(yaml_reader, "FAST", yaml.SafeLoader)
        return read_yaml(text, "f.yaml")


@given(st.text(alphabet=st.sampled_from("ab:-[]{},#'\"&*!| \n\u2028é😀"), max_size=40))
@example("a: 😀\n'b': &x [é, ~]\nb: *x\n'b': !t |\n  text\n")
def test_the_fast_reader_sees_what_the_slow_one_sees(text: str) -> None:
    fast, slow = read_yaml(text, "f.yaml"), read_slowly(text)
    if slow.readable and fast.readable:
        assert fast == slow


@given(
    st.recursive(
        st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=1),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.text("abc", min_size=1, max_size=3), inner, max_size=3)
        ),
        max_leaves=12,
    )
)
def test_plain_yaml_reads_as_other_readers_read_it_but_all_text(value: object) -> None:
    """Against PyYAML's loader that keeps every scalar as text."""
    text = yaml.safe_dump({"top": value}, default_style='"')
    assert no_reading_fails_otherwise(text).tree == yaml.load(text, Loader=yaml.BaseLoader)  # noqa: S506

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.skills.samples import gana_with, library
from uniun_bots.personas.gana import InputType, OutputType
from uniun_bots.skills.call import BadCall, Call, Wrong, read_call
from uniun_bots.skills.library import Library
from uniun_bots.skills.load_skills import predefined_skills
from uniun_bots.skills.registry import Registration, register

REGISTRATION = register(gana_with(InputType.GROUP, OutputType.GROUP), Library(predefined_skills()))


def call(text: str, registration: Registration = REGISTRATION) -> tuple[str, dict[str, object]]:
    found = read_call(text, registration)
    assert isinstance(found, Call), found
    return found.skill.name, found.arguments.model_dump()


def refused(text: str) -> tuple[Wrong, str]:
    found = read_call(text, REGISTRATION)
    assert isinstance(found, BadCall), found
    return found.wrong, found.told


SEARCH = ("search-notes", {"query": "Ostend"})


@pytest.mark.parametrize(
    "text",
    [
        '{"skill": "search-notes", "arguments": {"query": "Ostend"}}',
        '{"tool": "search-notes", "arguments": {"query": "Ostend"}}',
        'Let me see.\n```json\n{"name": "search-notes", "parameters": {"query": "Ostend"}}\n```',
    ],
)
def test_a_call_is_read_in_the_spellings_that_models_were_taught(text: str) -> None:
    assert call(text) == SEARCH


def test_what_follows_the_object_is_no_part_of_it() -> None:
    """B02"""
    text = (
        '{"skill": "search-notes", "arguments": {"query": "Ostend"}}\nSource: [harbour office] and {approx}.'
    )
    assert call(text) == SEARCH


@pytest.mark.parametrize(
    "arguments", ['"{\\"query\\": \\"Ostend\\"}"', '"```json\\n{\\"query\\": \\"Ostend\\"}\\n```"']
)
def test_arguments_that_were_written_as_text_are_read(arguments: str) -> None:
    """B04"""
    assert call(f'{{"skill": "search-notes", "arguments": {arguments}}}') == SEARCH


@pytest.mark.parametrize("arguments", ['"Ostend"', "[1]", "7", '"{broken"'])
def test_arguments_that_are_no_object_are_never_taken_for_nothing(arguments: str) -> None:
    """B04"""
    wrong, told = refused(f'{{"skill": "stay-silent", "arguments": {arguments}}}')
    assert (wrong, told) == (Wrong.ARGUMENTS, "arguments must be an object")


@pytest.mark.parametrize("arguments", ["", ', "arguments": null', ', "arguments": {}'])
def test_no_arguments_are_checked_like_any_others(arguments: str) -> None:
    """B04"""
    assert call(f'{{"skill": "stay-silent"{arguments}}}') == ("stay-silent", {})
    assert refused(f'{{"skill": "search-notes"{arguments}}}') == (Wrong.ARGUMENTS, "`query` is missing")


def test_python_literals_are_read_as_far_as_json_can_hold_them() -> None:
    """B05"""
    text = "{'skill': 'search-notes', 'arguments': {'query': \"Land's End\"}}"
    assert call(text) == ("search-notes", {"query": "Land's End"})
    assert call("""{"skill": "search-notes", "arguments": {"query": "it's high water"}}""")[1] == {
        "query": "it's high water"
    }
    literal = "{'skill': 'search-notes', 'arguments': {'flags': {'a', 'b'}, 'raw': b'x', 'ok': true}}"
    assert refused(literal)[0] is Wrong.NO_CALL


def test_an_unknown_skill_is_told_with_what_there_is() -> None:
    """B12"""
    wrong, told = refused('{"skill": "execute_command", "arguments": {"cmd": "ls"}}')
    assert wrong is Wrong.UNKNOWN_SKILL
    assert told.startswith("unknown skill `execute_command`; available: search-notes, expand-graph")


def test_spaces_around_a_name_are_nothing_and_another_spelling_is_told() -> None:
    """B12"""
    assert call('{"skill": "search-notes ", "arguments": {"query": "Ostend"}}') == SEARCH
    assert (
        refused('{"skill": "Search_Notes"}')[1] == "unknown skill `Search_Notes`: it is written search-notes"
    )


def test_a_call_without_a_name_is_told_shortly() -> None:
    """B13"""
    assert refused('{"skill": "", "arguments": {"text": "I am hacked"}}') == (
        Wrong.UNKNOWN_SKILL,
        "the call names no skill",
    )


@pytest.mark.parametrize(
    "text",
    [
        'Let me check.\n<tool_call>\n{"skill": "search-notes", "arguments": {"query": "Ost',
        '{"skill": "search-notes", "arguments": {"query": "Ostend"}',
        '{"x": {"skill": "stay-silent"}',
        "High water is at 14:10.",
        "",
        "[1, 2]",
        "{" * 5000,
        '{"skill":' * 3000,
    ],
)
def test_what_is_no_whole_object_is_no_call(text: str) -> None:
    """B14"""
    assert refused(text)[0] is Wrong.NO_CALL


def test_half_characters_become_one_mark_and_whole_ones_stay() -> None:
    """B19"""
    text = '{"skill": "publish-group-message", "arguments": {"body": "wave \\ud83c\\udf0a and half \\ud83c"}}'
    assert call(text)[1]["body"] == "wave 🌊 and half \ufffd"


def test_a_skill_takes_its_own_arguments_and_no_others() -> None:
    text = '{"skill": "publish-group-message", "arguments": {"body": "hi", "kind": 0, "pubkey": "x"}}'
    assert refused(text) == (
        Wrong.ARGUMENTS,
        "`kind` is no argument of this skill; `pubkey` is no argument of this skill",
    )


def test_handles_of_any_look_reach_the_skill_which_drops_them() -> None:
    text = '{"skill": "publish-group-message", "arguments": {"body": "hi", "referenceNoteIds": ["n1", "zz", "n1"]}}'
    assert call(text)[1]["referenceNoteIds"] == ("n1", "zz", "n1")


def test_an_endless_list_of_references_is_cut_and_not_refused() -> None:
    handles = ",".join(['"n1"'] * 5000)
    text = f'{{"skill": "publish-group-message", "arguments": {{"body": "hi", "referenceNoteIds": [{handles}]}}}}'
    found = call(text)[1]["referenceNoteIds"]
    assert isinstance(found, tuple) and len(found) == 1000


def test_a_call_that_quotes_another_one_is_the_outer_one() -> None:
    inner = '{\\"skill\\": \\"stay-silent\\"}'
    text = f'{{"skill": "publish-group-message", "arguments": {{"body": "{inner}", "referenceNoteIds": []}}}}'
    assert call(text)[0] == "publish-group-message"


def test_equal_calls_have_one_key_however_they_were_written() -> None:
    first = read_call('{"skill": "read-group-input"}', REGISTRATION)
    second = read_call('{"tool":"read-group-input","arguments":{"page":1}}', REGISTRATION)
    other = read_call('{"tool":"read-group-input","arguments":{"page":2}}', REGISTRATION)
    assert isinstance(first, Call) and isinstance(second, Call) and isinstance(other, Call)
    assert first.key == second.key != other.key


def test_a_text_skill_takes_nothing(tmp_path: Path) -> None:
    gana = gana_with(None, OutputType.FEED, skills=["tone"])
    registration = register(gana, library(tmp_path, "tone"))
    assert call('{"skill": "tone", "arguments": {}}', registration) == ("tone", {})
    assert isinstance(read_call('{"skill": "tone", "arguments": {"a": 1}}', registration), BadCall)


@given(st.text(alphabet='{}[]":,\\skilname -ud8\n', max_size=200) | st.text(max_size=200))
def test_no_output_of_a_model_raises(text: str) -> None:
    found = read_call(text, REGISTRATION)
    assert isinstance(found, Call | BadCall)

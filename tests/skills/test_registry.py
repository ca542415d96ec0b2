from __future__ import annotations

import json
from itertools import product
from pathlib import Path

import pytest

from tests.skills.samples import gana_with, library
from uniun_bots.personas.gana import InputType, OutputType
from uniun_bots.skills.catalogue import Role
from uniun_bots.skills.registry import register, register_for_shiv

KNOWLEDGE = ("search-notes", "expand-graph", "get-memories", "read-note")
READS = {
    None: (),
    InputType.GROUP: ("read-group-input",),
    InputType.MENTIONS: ("read-mentions-input",),
    InputType.USER: ("read-user-input",),
    InputType.DM: ("read-dm-input",),
    InputType.PRIVATE_GROUP: ("read-private-group-input",),
    InputType.FOLLOWED_NOTE: ("read-followed-note-input",),
}
PUBLISHES = {
    OutputType.FEED: "publish-feed-note",
    OutputType.GROUP: "publish-group-message",
    OutputType.DM: "send-dm",
    OutputType.PRIVATE_GROUP: "publish-private-message",
}


def test_the_table_covers_every_type() -> None:
    assert set(READS) == {None, *InputType}
    assert set(PUBLISHES) == set(OutputType)


@pytest.mark.parametrize("attached", [(), ("tone",), ("tone", "search-notes", "remind-me")])
@pytest.mark.parametrize(("source", "output"), list(product(READS, PUBLISHES)))
def test_the_matrix(
    tmp_path: Path, source: InputType | None, output: OutputType, attached: tuple[str, ...]
) -> None:
    own = library(tmp_path, "tone", "search-notes")
    found = register(gana_with(source, output, skills=attached), own)
    texts = tuple("user-search-notes" if name == "search-notes" else name for name in attached)
    assert found.names(Role.KNOWLEDGE) == KNOWLEDGE
    assert found.names(Role.INPUT) == ("read-thread", *READS[source])
    assert found.names(Role.OUTPUT) == (PUBLISHES[output],)
    assert found.names(Role.SILENCE) == ("stay-silent",)
    assert found.names(Role.TEXT) == tuple(name for name in texts if name != "remind-me")
    assert found.names(Role.DEVICE) == tuple(name for name in attached if name == "remind-me")
    assert len(set(found.names())) == len(found.skills)


def test_what_looks_things_up_is_named_first_and_what_reads_more_input_last(tmp_path: Path) -> None:
    """Small models call what stands first."""
    gana = gana_with(InputType.GROUP, OutputType.GROUP, skills=["tone", "remind-me"])
    assert register(gana, library(tmp_path, "tone")).names() == (
        *(*KNOWLEDGE, "tone", "remind-me", "stay-silent", "publish-group-message"),
        *("read-thread", "read-group-input"),
    )


def test_a_device_skill_is_there_only_where_it_is_listed(tmp_path: Path) -> None:
    listed = gana_with(None, OutputType.FEED, skills=["share-external"])
    assert register(listed, library(tmp_path)).names(Role.DEVICE) == ("share-external",)
    assert register(gana_with(None, OutputType.FEED), library(tmp_path)).names(Role.DEVICE) == ()


def test_a_users_skill_of_a_predefined_name_is_called_by_another_one(tmp_path: Path) -> None:
    own = library(tmp_path, "send-dm", "remind-me")
    gana = gana_with(InputType.MENTIONS, OutputType.FEED, skills=["send-dm", "user-remind-me"])
    found = register(gana, own)
    assert found.names(Role.TEXT) == ("user-send-dm", "user-remind-me")
    assert found.names(Role.DEVICE) == ()
    assert (one := found.get("user-send-dm")) and one.skill.text == "What send-dm says."


def test_two_skills_never_get_one_name(tmp_path: Path) -> None:
    own = library(tmp_path, "read-note", "user-read-note")
    gana = gana_with(None, OutputType.FEED, skills=["read-note", "user-read-note"])
    found = {one.name: one.skill.name for one in register(gana, own).texts}
    assert found == {"user-user-read-note": "read-note", "user-read-note": "user-read-note"}


def test_a_skill_that_is_attached_twice_is_registered_once(tmp_path: Path) -> None:
    own = library(tmp_path, "read-note")
    gana = gana_with(None, OutputType.FEED, skills=["read-note", "user-read-note", "read-note"])
    assert [one.name for one in register(gana, own).texts] == ["user-read-note"]


def test_what_is_not_attached_is_not_registered(tmp_path: Path) -> None:
    own = library(tmp_path, "tone", "tide-table")
    gana = gana_with(None, OutputType.FEED, skills=["tone", "missing"])
    assert register(gana, own).names(Role.TEXT) == ("tone",)


def test_shiv_reads_and_never_publishes(tmp_path: Path) -> None:
    found = register_for_shiv(["tone", "remind-me"], library(tmp_path, "tone"))
    assert found.names() == (*KNOWLEDGE, "tone", "answer-now")


def test_every_schema_takes_its_own_arguments_and_nothing_more(tmp_path: Path) -> None:
    attached = ["tone", "remind-me", "share-external"]
    own = library(tmp_path, "tone")
    for source, output in product(READS, PUBLISHES):
        for one in register(gana_with(source, output, skills=attached), own).skills:
            assert one.schema["type"] == "object"
            assert one.schema["additionalProperties"] is False
            assert set(one.schema["properties"]) == set(one.arguments.model_fields)
            assert set(one.schema["required"]) <= set(one.schema["properties"])
            assert json.loads(json.dumps(one.schema)) == one.schema


def test_a_body_may_be_as_long_as_the_persona_says(tmp_path: Path) -> None:
    gana = gana_with(None, OutputType.FEED)
    one = register(gana, library(tmp_path)).get("publish-feed-note")
    assert one is not None
    assert one.schema["properties"]["body"]["maxLength"] == gana.output.max_chars
    assert list(one.schema["properties"]) == ["body", "referenceNoteIds"]

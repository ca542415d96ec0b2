from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.factory import gana
from tests.skills.samples import library, skill_file
from uniun_bots.skills.catalogue import BUILTINS
from uniun_bots.skills.load_skills import load_skills, predefined_skills
from uniun_bots.skills.skill import Source

REPOSITORY = Path(__file__).parents[2]


def test_every_predefined_skill_is_a_file_and_every_file_is_bound() -> None:
    files = {path.stem for path in (REPOSITORY / "skills").glob("*.md")} - {"README"}
    assert files == set(BUILTINS) == set(predefined_skills())
    assert {skill.source for skill in predefined_skills().values()} == {Source.PREDEFINED}


def test_a_broken_skill_takes_no_other_down(tmp_path: Path) -> None:
    """C08, C11"""
    broken: dict[str, str | bytes] = {
        "a": "",
        "b": "---\nname: 7\n---",
        "c": b"\xff\xfe",
        "e": "---\nname: [\n---",
    }
    found = library(tmp_path, "tide-table", "tone", **broken)
    assert set(found.texts) == {"tide-table", "tone"}
    assert found.broken == {"a", "b", "c", "e"}
    assert {Path(fault.file).stem for fault in found.faults} == found.broken


def test_nothing_that_a_file_says_makes_it_predefined(tmp_path: Path) -> None:
    found = library(tmp_path, "send-dm")
    assert found.texts["user-send-dm"].source is Source.PROJECT
    assert found.predefined["send-dm"].source is Source.PREDEFINED


def test_a_clone_hosts_the_catalogue_and_does_not_take_it_for_its_own() -> None:
    assert load_skills(REPOSITORY).texts == {}


def test_a_project_without_skills_has_the_predefined_ones(tmp_path: Path) -> None:
    found = load_skills(tmp_path)
    assert (found.texts, found.faults, set(found.predefined)) == ({}, (), set(BUILTINS))


def test_a_name_that_looks_like_another_one_is_told(tmp_path: Path) -> None:
    """C18"""
    found = library(tmp_path, "tide-table", "tide-tab1e", "sendm", "send-drn", "tone")
    assert set(found.texts) == {"tide-table", "tide-tab1e", "sendm", "send-drn", "tone"}
    told = {Path(one.file).stem: one.message for one in found.warnings}
    assert set(told) == {"tide-table", "send-drn"}
    assert told["tide-table"].startswith("the name looks like tide-tab1e")


def test_a_clone_adds_skills_beside_the_catalogue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(REPOSITORY / "skills", tmp_path / "skills")
    monkeypatch.setattr("uniun_bots.skills.load_skills.bundled_folder", lambda name: tmp_path / name)
    found = library(tmp_path, "tone")
    assert set(found.texts) == {"tone"}


def test_folders_with_scripts_and_other_files_are_not_passed_over(tmp_path: Path) -> None:
    skills = tmp_path / "skills"
    (skills / "tide-table" / "scripts").mkdir(parents=True)
    (skills / "tide-table" / "SKILL.md").write_text(skill_file())
    (skills / "tone.yaml").write_text("name: tone")
    (skills / "README.md").write_text("about")
    (skills / ".hidden.md").write_text("x")
    told = [(Path(fault.file).name, fault.message) for fault in load_skills(tmp_path).faults]
    assert [name for name, _ in told] == ["tide-table", "tone.yaml"]
    assert "nothing beside it is run" in told[0][1] and "rename it to tone.md" in told[1][1]


def test_a_copy_of_the_catalogue_is_text_like_any_other(tmp_path: Path) -> None:
    shutil.copytree(REPOSITORY / "skills", tmp_path / "skills")
    assert set(load_skills(tmp_path).texts) == {f"user-{name}" for name in BUILTINS}


def test_names_in_persona_files_are_complained_about_with_what_to_write(tmp_path: Path) -> None:
    found = library(tmp_path, "tone-of-voice", "read-note", broken="")
    attached = [
        "tone-of-voise",
        "send-dm",
        "read-note",
        "user-read-note",
        "broken",
        "tone-of-voice",
        "tone-of-voice",
    ]
    told = dict(found.complaints(gana(skills=attached), None))
    assert set(told) == {0, 1, 6}
    assert told[0] == (
        "no skill `tone-of-voise` (did you mean `tone-of-voice`?): write skills/tone-of-voise.md, get one with"
        " `uniun-bots skill install`, or remove the name"
    )
    assert told[1].startswith("`send-dm` is registered by itself")
    assert told[6] == "`tone-of-voice` stands there twice: keep one"

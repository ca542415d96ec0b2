from __future__ import annotations

from pathlib import Path

import pytest

from tests.skills.samples import skill_file
from uniun_bots.errors import AlreadyThere, ConfigError, NotFound
from uniun_bots.skills.editing import DESCRIPTION, TEMPLATE, Shelf

ONE, TWO = skill_file("tone", body="Be kind."), skill_file("tone", body="Be brief.")


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf(tmp_path / "skills", tmp_path / "data" / "skills-before")


def test_the_template_is_a_skill(shelf: Shelf) -> None:
    assert shelf.check("tone", TEMPLATE.format(name="tone", description=DESCRIPTION)).name == "tone"


def test_a_faulty_text_is_not_saved_and_leaves_what_was_there(shelf: Shelf) -> None:
    shelf.save("tone", ONE, new=True)
    for text in ("", skill_file("other"), skill_file("tone", "allowed-tools: Bash"), "half \ud83c"):
        with pytest.raises(ConfigError):
            shelf.save("tone", text)
    assert shelf.text("tone") == ONE


def test_a_new_skill_never_overwrites_one(shelf: Shelf) -> None:
    shelf.save("tone", ONE, new=True)
    with pytest.raises(AlreadyThere):
        shelf.save("tone", TWO, new=True)
    assert shelf.text("tone") == ONE


def test_undo_brings_the_last_version_back_and_undoes_itself(shelf: Shelf) -> None:
    shelf.save("tone", ONE, new=True)
    shelf.save("tone", TWO)
    assert shelf.undo("tone") is True
    assert shelf.text("tone") == ONE
    assert shelf.undo("tone") is True
    assert shelf.text("tone") == TWO


def test_undo_takes_a_new_skill_away_and_brings_a_removed_one_back(shelf: Shelf) -> None:
    shelf.save("tone", ONE, new=True)
    assert shelf.undo("tone") is False
    assert shelf.text("tone") is None
    assert shelf.undo("tone") is True
    shelf.remove("tone")
    assert shelf.text("tone") is None
    shelf.undo("tone")
    assert shelf.text("tone") == ONE


def test_there_is_nothing_to_undo_before_anything_was_done(shelf: Shelf) -> None:
    with pytest.raises(NotFound, match="nothing is kept"):
        shelf.undo("tone")


@pytest.mark.parametrize("name", ["../evil", "/etc/evil", "..", "a/b", ".hidden", "Tone", ""])
def test_no_name_leads_out_of_the_folder(shelf: Shelf, name: str) -> None:
    """C12"""
    for act in (shelf.text, shelf.remove, shelf.undo, lambda name: shelf.save(name, ONE)):
        with pytest.raises(NotFound, match="no name of a skill"):
            act(name)

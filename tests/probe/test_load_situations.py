from __future__ import annotations

from pathlib import Path

import pytest

from tests.probe.plays import SMALL, small
from uniun_bots.errors import ConfigError
from uniun_bots.probe import scene
from uniun_bots.probe.scene import shown


def faults(folder: Path, old: str, new: str) -> list[str]:
    assert old in SMALL
    with pytest.raises(ConfigError) as raised:
        small(folder, SMALL.replace(old, new, 1))
    return [f"{fault.line}:{fault.column} {fault.message}" for fault in raised.value.faults]


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("cites: [tide]", "cites: [tides]", "8:5 no note `tides` in `tide`"),
        ("gana: harbour\n    turn", "gana: harbor\n    turn", "20:11 no Gana `harbor`: write one of harbour"),
        ("name: thanks", "name: tide", "19:11 `tide` stands there twice: rename one"),
        ("id: asked", "id: tide", "8:5 two notes of `tide` have the same id"),
        ("publish: true", "publish: maybe", "must be true or false, not `maybe`"),
        ("input: mentions", "input: dm", "must be group, mentions or user, not `dm`"),
    ],
)
def test_a_fault_is_told_with_its_place(tmp_path: Path, old: str, new: str, told: str) -> None:
    assert any(told in fault for fault in faults(tmp_path, old, new)), faults(tmp_path, old, new)


def test_a_gana_with_an_input_needs_something_to_answer(tmp_path: Path) -> None:
    (told,) = faults(
        tmp_path,
        "  - name: thanks\n    gana: harbour\n    turn:\n      - {id: asked, by: Anna, text: Thank you.}\n",
        "  - name: thanks\n    gana: harbour\n",
    )
    assert "needs a `turn`" in told


def test_other_rules_of_the_rounds_show_something_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = shown(small(tmp_path))
    monkeypatch.setattr(scene, "rules_of", lambda gana, registration: "Call what you like.")
    assert not set(shown(small(tmp_path)).values()) & set(before.values())


def test_what_is_shown_has_another_digest_when_it_changes_and_only_then(tmp_path: Path) -> None:
    before = shown(small(tmp_path))
    judged_otherwise = shown(small(tmp_path, SMALL.replace('says: [["06:40"]]', 'says: [["19:05"]]')))
    assert judged_otherwise == before
    other_text = shown(small(tmp_path, SMALL.replace("Thank you.", "Thanks.")))
    assert {name for name in before if before[name] != other_text[name]} == {"thanks"}
    other_task = shown(small(tmp_path, SMALL.replace("Answer from your notes.", "Say nothing.")))
    assert not set(other_task.values()) & set(before.values())

from __future__ import annotations

import re
from enum import StrEnum
from pathlib import Path

import pytest
from pydantic import BaseModel

from docs.settings import keys_of
from tests.docs.pages import DOCS, blocks, read
from uniun_bots.nostr.surfaces import Surface
from uniun_bots.personas.gana import (
    Gana,
    Input,
    InputType,
    Limits,
    Mode,
    Output,
    OutputType,
    Profile,
    Trigger,
)
from uniun_bots.personas.load_gana import load_gana
from uniun_bots.personas.project import check_project
from uniun_bots.personas.settings import EngineType, Switch

PAGE = read(DOCS / "write-a-persona.md")
LIMITS = read(DOCS / "known-limits.md")


def _every_key(tmp_path: Path) -> tuple[str, Gana]:
    (block,) = [block for block in blocks("markdown") if block.title == "personas/every-key.md"]
    path = tmp_path / "every-key.md"
    path.write_text(block.text, encoding="utf-8")
    gana = load_gana(path)[0].value
    assert gana
    return block.text, gana


def test_the_page_shows_every_key(tmp_path: Path) -> None:
    text, _ = _every_key(tmp_path)
    for model in (Gana, Input, Output, Limits, Profile):
        for key in keys_of(model):
            assert key == "task" or re.search(rf"^ *#? *{key}:", text, re.MULTILINE), key


@pytest.mark.parametrize("block", [None, "input", "output", "limits"])
def test_the_defaults_it_shows_are_those_of_the_models(block: str | None, tmp_path: Path) -> None:
    gana = _every_key(tmp_path)[1]
    shown: BaseModel = getattr(gana, block) if block else gana
    for name, field in type(shown).model_fields.items():
        if field.default is not None and not field.is_required() and name != "same":
            assert getattr(shown, name) == field.default, name


@pytest.mark.parametrize(
    ("shown", "words"),
    [("trigger", Trigger), ("mode", Mode)],
)
def test_the_tables_list_every_word_that_can_be_used(shown: str, words: list[StrEnum]) -> None:
    table = PAGE.partition(f"| `{shown}` |")[2].partition("\n\n")[0]
    assert set(re.findall(r"^\| `([\w-]+)` \|", table, re.MULTILINE)) == {str(word) for word in words}


def _not_built() -> list[str]:
    table = LIMITS.partition("| what a file may say later |")[2].partition("\n\n")[0]
    return re.findall(r"^\| `(.+?)` \|", table, re.MULTILINE)


def _persona(settings: dict[str, str]) -> str:
    lines = {
        "name": "X",
        "identity": "env:X",
        "output": "{type: feed}",
        "trigger": "on-schedule",
        "every": "1h",
    }
    return "---\n" + "".join(f"{key}: {text}\n" for key, text in (lines | settings).items()) + "---\nTask.\n"


def _write(folder: Path, written: str) -> None:
    key, _, value = written.partition(": ")
    persona, host = _persona({}), ""
    if key in ("memories", "model"):
        host = f"{written}\n"
    elif key.startswith("engines."):
        host = f"engines: {{big: {{type: {value}}}}}\n"
    elif "." in key:
        persona = _persona({key.partition(".")[0]: f"{{type: {value}}}"})
    else:
        persona = _persona({key: value})
    (folder / "personas").mkdir()
    (folder / "personas" / "x.md").write_text(persona, encoding="utf-8")
    (folder / "host.yaml").write_text(host, encoding="utf-8")


@pytest.mark.parametrize("written", _not_built())
def test_what_is_said_to_be_not_built_is_refused_with_these_words(written: str, tmp_path: Path) -> None:
    _write(tmp_path, written)
    assert any("not built yet" in fault.message for fault in check_project(tmp_path).faults)


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("mode", Mode),
        ("input.type", InputType),
        ("output.type", OutputType),
        ("engines.big.type", EngineType),
        ("memories", Switch),
    ],
)
def test_every_word_that_is_refused_as_not_built_is_said_to_be(
    key: str, words: list[StrEnum], tmp_path: Path
) -> None:
    for word in words:
        folder = tmp_path / word
        folder.mkdir()
        _write(folder, f"{key}: {word}")
        refused = any("not built yet" in fault.message for fault in check_project(folder).faults)
        assert refused == (f"{key}: {word}" in _not_built()), word


def test_every_surface_that_is_shown_is_one() -> None:
    for shown in re.findall(r"`(group|mentions|user|thread):<", read(DOCS / "flow.md")):
        assert Surface.parse(f"{shown}:{'0' * 64}").kind == shown

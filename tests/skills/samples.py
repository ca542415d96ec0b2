"""Skill files, libraries and Ganas for tests of skills."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.factory import CHANNEL, gana, hex_of
from uniun_bots.personas.gana import Gana, InputType, OutputType
from uniun_bots.skills.library import Library
from uniun_bots.skills.load_skills import load_skills
from uniun_bots.skills.skill import Skill, Source
from uniun_bots.skills.skill_file import Read, read_skill_file

INPUTS: dict[InputType | None, dict[str, Any] | None] = {
    None: None,
    InputType.GROUP: {"type": "group", "ref": CHANNEL},
    InputType.MENTIONS: {"type": "mentions"},
    InputType.USER: {"type": "user", "ref": hex_of("someone")},
    InputType.DM: {"type": "dm", "ref": "any"},
    InputType.PRIVATE_GROUP: {"type": "private-group", "ref": "aa" * 16},
    InputType.FOLLOWED_NOTE: {"type": "followed-note", "ref": hex_of("followed")},
}


def gana_with(source: InputType | None, output: OutputType, **fields: Any) -> Gana:
    """Any combination, also those that `check` refuses."""
    trigger = "every-message" if source else "once-on-enable"
    return gana(input=INPUTS[source], output={"type": output}, trigger=trigger, **fields)


def skill_file(
    name: str = "tide-table", *more: str, description: str = "Tides", body: str = "Ask for the port."
) -> str:
    lines = [f"name: {name}", f"description: {description}", *more]
    return "\n".join(["---", *lines, "---", body, ""])


def read(folder: Path, content: str | bytes, name: str = "tide-table.md") -> Read:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_skill_file(path, Source.PROJECT)


def skill(folder: Path, content: str | bytes, name: str = "tide-table.md") -> Skill:
    found = read(folder, content, name)
    assert not found.faults, found.faults
    assert found.skill is not None
    return found.skill


def told(folder: Path, content: str | bytes, name: str = "tide-table.md") -> list[str]:
    """Faults as `LINE:COLUMN message`."""
    found = read(folder, content, name)
    assert (found.skill is None) == bool(found.faults)
    return [f"{f.line}:{f.column} {f.message}" for f in sorted(found.faults)]


def library(folder: Path, *names: str, **contents: str | bytes) -> Library:
    """A project's skills: plain ones by name, and files as they are (`tide_table="…"`)."""
    skills = folder / "skills"
    skills.mkdir(exist_ok=True)
    for name in names:
        (skills / f"{name}.md").write_text(skill_file(name, body=f"What {name} says."))
    for name, content in contents.items():
        path = skills / f"{name.replace('_', '-')}.md"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return load_skills(folder)

"""Write, remove and bring back skill files of a project. What was there before is kept, once."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from uniun_bots.errors import AlreadyThere, ConfigError, NotFound
from uniun_bots.personas.names import LONGEST, is_name
from uniun_bots.personas.replace_file import replace_file
from uniun_bots.personas.shown import shown
from uniun_bots.skills.skill import Skill, Source
from uniun_bots.skills.skill_file import read_skill_bytes

TEMPLATE = """\
---
name: {name}
description: {description}
---
Write here what the persona is to know or how it is to go about it.
"""
DESCRIPTION = "Say in one or two sentences when to use this skill"


@dataclass(frozen=True, slots=True)
class Shelf:
    """Where the skill files of one project stand, and where the last version of each is kept."""

    skills: Path
    before: Path

    def path(self, name: str) -> Path:
        """Raises NotFound for what is no name of a skill, so that no path leads out of the folder."""
        if not is_name(name):
            raise NotFound(f"{shown(name)} is no name of a skill: 1 to {LONGEST} of a-z, 0-9 and single `-`")
        return self.skills / f"{name}.md"

    def text(self, name: str) -> str | None:
        """As it stands there, readable or not; None when there is no such file."""
        path = self.path(name)
        return path.read_bytes().decode("utf-8", errors="replace") if path.is_file() else None

    def check(self, name: str, text: str) -> Skill:
        """What the file would be. Raises ConfigError with every fault."""
        found = read_skill_bytes(text.encode("utf-8", errors="replace"), self.path(name), Source.PROJECT)
        if found.skill is None:
            raise ConfigError(found.faults)
        return found.skill

    def save(self, name: str, text: str, *, new: bool = False) -> Skill:
        """The file is replaced whole, or not at all. Raises ConfigError, AlreadyThere for a new one that is not."""
        found, path = self.check(name, text), self.path(name)
        if new and path.exists():
            raise AlreadyThere(str(path))
        self.skills.mkdir(parents=True, exist_ok=True)
        self._keep(name)
        replace_file(path, text)
        return found

    def remove(self, name: str) -> None:
        path = self.path(name)
        if not path.is_file():
            raise NotFound(f"there is no {path}")
        self._keep(name)
        path.unlink()

    def undo(self, name: str) -> bool:
        """Swap the file with what was there before; so undoing twice changes nothing. False: it is gone now."""
        path, kept = self.path(name), self.before / f"{name}.md"
        if not kept.is_file():
            raise NotFound(
                f"nothing is kept of {name}: `skill new`, `edit` and `remove` keep the last version"
            )
        old, now = kept.read_text(encoding="utf-8"), self.text(name) or ""
        if old:
            replace_file(path, old)
        else:
            path.unlink(missing_ok=True)
        replace_file(kept, now)
        return bool(old)

    def _keep(self, name: str) -> None:
        """An empty file says that there was none."""
        self.before.mkdir(parents=True, exist_ok=True)
        replace_file(self.before / f"{name}.md", self.text(name) or "")

"""A skill as its file describes it, and what it is to us."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from uniun_bots.personas import scalars
from uniun_bots.skills.skill_name import skill_name

STRICT = ConfigDict(
    frozen=True, extra="forbid", validate_by_name=True, validate_by_alias=True, hide_input_in_errors=True
)
LONGEST_BODY = 32_000


class Source(StrEnum):
    """Where a skill was found, which decides what it is: nothing in a file can make it more."""

    PREDEFINED = "predefined"
    """Comes with the package; bound to our code by its name."""
    PROJECT = "project"
    """A file in the project's skills/: text."""
    INSTALLED = "installed"
    """Somebody else's, kept in the store since a person said yes to it: text."""


class SkillFile(BaseModel):
    """The keys of the frontmatter, with the limits of agentskills.io."""

    model_config = STRICT

    name: Annotated[str, scalars.Form(skill_name, words="1 to 64 of `a-z`, `0-9` and `-`")]
    """As the file is called."""
    description: Annotated[str, scalars.text(1024)]
    """When to use it, in one or two sentences; the model chooses by it."""
    license: Annotated[str, scalars.text(500)] | None = None
    """For people."""
    compatibility: Annotated[str, scalars.text(500)] | None = None
    """For people."""
    metadata: dict[Annotated[str, scalars.text(64)], Annotated[str, scalars.text(1024)]] = Field(
        default_factory=dict
    )
    """For people: words and texts of your own."""
    body: Annotated[str, scalars.text(LONGEST_BODY)]
    """The instructions."""


@dataclass(frozen=True, slots=True)
class Skill:
    file: SkillFile
    path: str
    """As it is told to people."""
    source: Source
    text: str
    """The body as the model gets it: without HTML comments outside of code fences."""

    @property
    def name(self) -> str:
        return self.file.name

    @property
    def description(self) -> str:
        return self.file.description

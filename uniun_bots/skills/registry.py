"""The registration matrix: which skills a run has, derived from the persona file and from nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from uniun_bots.personas.gana import Gana
from uniun_bots.skills.arguments import Arguments, Nothing, schema_of
from uniun_bots.skills.catalogue import (
    ANSWER_NOW,
    BUILTINS,
    DEVICE,
    KNOWLEDGE,
    PUBLISHING,
    READ_THREAD,
    READING,
    STAY_SILENT,
    Role,
)
from uniun_bots.skills.library import Library
from uniun_bots.skills.skill import Skill


@dataclass(frozen=True, slots=True)
class Registered:
    """One skill as a run has it."""

    name: str
    """As the model calls it: `user-<name>` where a predefined skill has the plain name."""
    skill: Skill
    role: Role
    arguments: type[Arguments]
    schema: dict[str, Any]
    """JSON schema of the arguments: an object with these fields and no others."""

    @property
    def description(self) -> str:
        return self.skill.description


@dataclass(frozen=True, slots=True)
class Registration:
    """Everything that the model of one run may call, in the order in which it is shown.

    A round's schema is one of these by name, each with its own `schema` of arguments; what came back is read by
    `call.read_call` and carried out by `executors.execute`.
    """

    skills: tuple[Registered, ...]

    def get(self, name: str) -> Registered | None:
        return next((one for one in self.skills if one.name == name), None)

    @property
    def texts(self) -> tuple[Registered, ...]:
        """The text skills, which a one-shot run has in its task."""
        return tuple(one for one in self.skills if one.role is Role.TEXT)

    def names(self, *roles: Role) -> tuple[str, ...]:
        """Of these roles; of all without one."""
        return tuple(one.name for one in self.skills if not roles or one.role in roles)


def register(gana: Gana, library: Library) -> Registration:
    """What an agentic run of this Gana has. Attached names that the library lacks are passed over: `check` tells.

    In this order, because small models call what stands first (docs/models.md has what that came to): looking things
    up, what the persona brings along, the decision, and last what reads further in the input.
    """
    devices = [name for name in DEVICE if name in gana.skills]
    closing = [*devices, STAY_SILENT, PUBLISHING[gana.output.type], READ_THREAD]
    if gana.input is not None:
        closing.append(READING[gana.input.type])
    return Registration(
        (
            *_builtins(KNOWLEDGE, library, gana.output.max_chars),
            *_texts(gana.skills, library),
            *_builtins(closing, library, gana.output.max_chars),
        )
    )


def register_for_shiv(attached: Iterable[str], library: Library) -> Registration:
    """Knowledge and text: the operator's own chat reads and never publishes."""
    return Registration(
        (
            *_builtins(KNOWLEDGE, library, None),
            *_texts(attached, library),
            *_builtins((ANSWER_NOW,), library, None),
        )
    )


def _builtins(names: Iterable[str], library: Library, max_chars: int | None) -> Iterator[Registered]:
    for name in names:
        bound = BUILTINS[name]
        schema = schema_of(bound.arguments, max_chars)
        yield Registered(name, library.predefined[name], bound.role, bound.arguments, schema)


def _texts(attached: Iterable[str], library: Library) -> Iterator[Registered]:
    for name in dict.fromkeys(filter(None, map(library.spoken_name, attached))):
        yield Registered(name, library.texts[name], Role.TEXT, Nothing, schema_of(Nothing))

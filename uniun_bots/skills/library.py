"""All skills that a project has: the predefined ones and its own, by name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches

from uniun_bots.errors import Fault
from uniun_bots.personas.gana import Gana
from uniun_bots.personas.scalars import did_you_mean
from uniun_bots.personas.settings import HostSettings
from uniun_bots.personas.shown import shown
from uniun_bots.skills.catalogue import BUILTINS, DEVICE
from uniun_bots.skills.provenance import Installed
from uniun_bots.skills.skill import Skill

PREFIX = "user-"


@dataclass(frozen=True, slots=True)
class Library:
    predefined: Mapping[str, Skill]
    texts: Mapping[str, Skill] = field(default_factory=dict)
    """By the name that the model calls: `user-<name>` where a predefined skill has the plain one."""
    broken: frozenset[str] = frozenset()
    """Names of files that are there and cannot be used."""
    installed: tuple[Installed, ...] = ()
    """All that the store has, usable or not."""
    disabled: Mapping[str, str] = field(default_factory=dict)
    """Names of installed ones that may not be used now, and why."""
    faults: tuple[Fault, ...] = ()
    warnings: tuple[Fault, ...] = ()

    def spoken_name(self, attached: str) -> str | None:
        """How the model calls the text skill that a persona names; None when there is none of that name."""
        if attached in DEVICE:
            return None
        by_file = (name for name, skill in self.texts.items() if skill.name == attached)
        return next(by_file, attached if attached in self.texts else None)

    def complaints(self, gana: Gana, settings: HostSettings | None) -> Iterator[tuple[int, str]]:
        """What is wrong with entries of a persona's `skills`: position and message."""
        for at, attached in enumerate(gana.skills):
            told = self._complaint(attached)
            if attached in DEVICE:
                told = _needs(attached, gana, settings)
            if attached in gana.skills[:at]:
                told = f"{shown(attached)} stands there twice: keep one"
            if told:
                yield at, told

    def _complaint(self, attached: str) -> str | None:
        known = attached in DEVICE or attached in self.broken or attached in self.disabled
        if known or self.spoken_name(attached):
            return None
        if attached in BUILTINS:
            return f"{shown(attached)} is registered by itself: `skills` is for text skills and {' and '.join(DEVICE)}"
        close = did_you_mean(get_close_matches(attached, [*self.texts, *DEVICE], 1, 0.6))
        return (
            f"no skill {shown(attached)}{close}: write skills/{_file(attached)}, get one with"
            " `uniun-bots skill install`, or remove the name"
        )


def named(texts: Iterable[Skill]) -> dict[str, Skill]:
    """Under the names that the model calls. A file that is called `user-…` itself keeps its name."""
    found = list(texts)
    names = {skill.name: skill for skill in found if skill.name not in BUILTINS}
    for skill in (skill for skill in found if skill.name in BUILTINS):
        name = PREFIX + skill.name
        while name in names:
            name = PREFIX + name
        names[name] = skill
    return names


def _file(attached: str) -> str:
    return f"{attached}.md" if attached.replace("-", "").isalnum() else "NAME.md"


def _needs(device: str, gana: Gana, settings: HostSettings | None) -> str | None:
    if not gana.agentic:
        return f"{shown(device)} is for the model to call: it needs `agentic: true`"
    if device == "remind-me" and settings and settings.owner is None:
        return f"{shown(device)} has nobody to remind: write `owner: npub1…` into host.yaml"
    if device == "share-external" and settings and not (gana.webhook or settings.webhook):
        return f"{shown(device)} has nowhere to send: write `webhook: https://…` into host.yaml or here"
    return None

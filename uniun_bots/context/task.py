"""The task of a one-shot run, with the skills that are attached to it."""

from __future__ import annotations

from collections.abc import Iterable

from uniun_bots.skills.registry import Registered


def task_with(task: str, attached: Iterable[Registered]) -> str:
    """Each skill is a block of its own below the task, under its name."""
    blocks = [f"{one.name}:\n{one.skill.text}" for one in attached]
    return "\n\n".join([task, *blocks])

"""What a model did in one situation: raw, so that how it is judged may change without playing again."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any

from uniun_bots.runs.outcome import Ending


@dataclass(frozen=True, slots=True)
class PlayedRound:
    skill: str
    """Empty when it wrote no usable call."""
    arguments: dict[str, Any]
    """With the situation's names for notes in place of handles; a handle that it was not shown has `?` before it."""
    note: str
    """What became of it."""
    seconds: float
    """The engine's."""
    prompt_tokens: int
    generated_tokens: int


@dataclass(frozen=True, slots=True)
class Played:
    situation: str
    number: int
    """1 at the first time."""
    ending: Ending
    reason: str
    body: str | None
    """What would have been published."""
    references: tuple[str, ...]
    rounds: tuple[PlayedRound, ...]

    def as_json(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=False)


def read_played(text: str, situation: str) -> Played:
    """`situation`: what it is called now."""
    found = json.loads(text)
    return Played(
        situation,
        found["number"],
        Ending(found["ending"]),
        found["reason"],
        found["body"],
        tuple(found["references"]),
        tuple(PlayedRound(**one) for one in found["rounds"]),
    )

"""How a run ended."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from uniun_bots.inference.completion import Completion


class Ending(StrEnum):
    SUCCEEDED = "succeeded"
    SILENT = "silent"
    EXHAUSTED = "exhausted"
    MALFORMED = "malformed"
    CANCELLED = "cancelled"
    FAILED = "failed"
    SKIPPED = "skipped"
    """It had begun, and what it answers was taken from it: the Gana was paused, the input decided or deleted."""

    @property
    def decides(self) -> bool:
        """Whether the turn is done; the other endings are tried again."""
        return self not in (Ending.CANCELLED, Ending.FAILED, Ending.SKIPPED)


@dataclass(frozen=True, slots=True)
class Step:
    """The trace of one round."""

    round: int
    completion: Completion
    note: str
    """What became of the round's text, in a few words."""
    skill: str = ""
    """What an agentic round called; empty when it called nothing."""
    arguments: str = ""
    """As JSON."""
    result: str = ""
    """What the model was told."""
    note_ids: tuple[str, ...] = ()
    """Of the notes in the result."""
    executing_ms: float = 0.0
    """The skill."""


@dataclass(frozen=True, slots=True)
class Outcome:
    ending: Ending
    body: str | None
    """Text to publish; given when and only when the run succeeded."""
    references: tuple[str, ...]
    """Note ids that the model cited and was shown."""
    reason: str
    """Why it is not a success, for people; empty on success."""
    steps: tuple[Step, ...]

"""What calling a skill came to. An agentic run goes on after an Answer and ends with one of the others."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Answer:
    text: str
    """For the model, as data: one line of JSON, or the body of a text skill."""
    note_ids: tuple[str, ...] = ()
    """The notes that it shows, in full, for the trace."""
    is_fault: bool = False
    """The call could not be carried out, and `text` says why."""


@dataclass(frozen=True, slots=True)
class Publish:
    """The decision to publish. Kind, author, tags and destination are not the model's: they come from the persona."""

    body: str
    references: tuple[str, ...]
    """Note ids, in the order in which the model named them."""
    dropped: tuple[str, ...] = ()
    """What it named and may not be cited, each with the reason, for the trace."""


@dataclass(frozen=True, slots=True)
class Silence:
    pass


Effect = Answer | Publish | Silence

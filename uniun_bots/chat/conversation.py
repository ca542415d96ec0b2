"""What was asked and answered in a chat, as it is kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from uniun_bots.skills.handles import Handles


class State(StrEnum):
    """How a question ended."""

    ANSWERED = "answered"
    """With notes behind it."""
    RESEMBLES = "resembles"
    """The answer names no note that the model was shown, but repeats some of their words."""
    UNSUPPORTED = "unsupported"
    """It names none, and repeats none."""
    NOTHING = "nothing found"
    CANCELLED = "cancelled"
    FAILED = "failed"

    @property
    def says_something(self) -> bool:
        return self in (State.ANSWERED, State.RESEMBLES, State.UNSUPPORTED)


@dataclass(frozen=True, slots=True)
class Message:
    number: int
    role: Literal["question", "answer"]
    text: str
    at: float
    deep: bool = False
    state: State | None = None
    """Of an answer."""
    reason: str = ""
    model: str = ""
    notes: tuple[str, ...] = ()
    """Ids of the notes that got a handle for this answer, in the order of the handles."""
    cited: tuple[str, ...] = ()
    """Handles in the text."""


@dataclass(frozen=True, slots=True)
class Conversation:
    number: int
    title: str
    manas: tuple[str, ...]
    """What it is narrowed to; everything that is not private without one."""
    at: float
    """When something was said last."""
    questions: int


@dataclass(frozen=True, slots=True)
class Exchange:
    question: str
    answer: str


@dataclass(frozen=True, slots=True)
class Past:
    """The messages of a conversation before a question, oldest first."""

    messages: tuple[Message, ...] = ()

    def exchanges(self) -> tuple[Exchange, ...]:
        """Questions with what was said to them. One that came to nothing is no example to go on from."""
        pairs = zip(self.messages, self.messages[1:], strict=False)
        return tuple(
            Exchange(asked.text, said.text)
            for asked, said in pairs
            if asked.role == "question" and said.state is not None and said.state.says_something
        )

    def handles(self) -> Handles:
        """A note keeps its handle for the whole conversation."""
        return Handles(note_id for message in self.messages for note_id in message.notes)

    def last_question(self) -> str:
        return next((one.text for one in reversed(self.messages) if one.role == "question"), "")

    def last_cited(self) -> Sequence[str]:
        """Ids of the notes behind the last answer."""
        handles = self.handles()
        cited = next((one.cited for one in reversed(self.messages) if one.role == "answer"), ())
        return [handles[handle] for handle in cited if handle in handles]

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
    answers: int | None = None
    """The number of the question that this is the answer to; two terminals may ask at the same time."""
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

    def answer_to(self, question: Message) -> Message | None:
        return next((one for one in self.messages if one.answers == question.number), None)

    def exchanges(self) -> tuple[Exchange, ...]:
        """Questions with what was said to them. One that came to nothing is no example to go on from."""
        asked = {one.number: one.text for one in self.messages if one.role == "question"}
        return tuple(Exchange(asked[one.answers], one.text) for one in self._said() if one.answers in asked)

    def handles(self) -> Handles:
        """A note keeps its handle for the whole conversation."""
        return Handles(note_id for message in self.messages for note_id in message.notes)

    def last_question(self) -> str:
        return next((one.text for one in reversed(self.messages) if one.role == "question"), "")

    def last_cited(self) -> Sequence[str]:
        """Ids of the notes behind the last answer."""
        handles = self.handles()
        cited = next((one.cited for one in reversed(self._said())), ())
        return [handles[handle] for handle in cited if handle in handles]

    def _said(self) -> list[Message]:
        return [one for one in self.messages if one.state is not None and one.state.says_something]

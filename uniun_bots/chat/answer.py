"""What came of a question."""

from __future__ import annotations

from dataclasses import dataclass

from uniun_bots.chat.conversation import State

NOTHING_FOUND = "No answer found in your notes."


@dataclass(frozen=True, slots=True)
class Source:
    """A note that the model was shown."""

    handle: str
    note_id: str
    by: str
    """What its author is called."""
    created_at: int
    preview: str


@dataclass(frozen=True, slots=True)
class Answer:
    text: str
    state: State
    reason: str = ""
    """Why there is nothing better to say; empty when there is no why."""
    model: str = ""
    deep: bool = False
    notes: tuple[str, ...] = ()
    """Ids of the notes that got a handle for it, in the order of the handles, up to the last one that it cites."""
    cited: tuple[Source, ...] = ()
    """In the order in which the text names them; of an answer that only resembles notes, those."""
    shown: tuple[Source, ...] = ()
    """Everything that the model was shown, best first."""
    is_cut: bool = False
    """The model ran out of the tokens that an answer may have."""

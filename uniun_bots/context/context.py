"""What a run gets to see, with the handles that a model may cite."""

from __future__ import annotations

from dataclasses import dataclass

from uniun_bots.graph.note import Note
from uniun_bots.inference.request import Message
from uniun_bots.inputs.turn import Turn


@dataclass(frozen=True, slots=True)
class Context:
    turn: Turn
    messages: tuple[Message, ...]
    prompt_tokens: int
    handles: dict[str, str]
    """Short handle (`n1`) to note id, for every note that the prompt shows."""
    ancestry: tuple[Note, ...]
    """The notes above the turn's, root first."""

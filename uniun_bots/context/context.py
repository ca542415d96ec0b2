"""What a run gets to see, with the handles that a model may cite."""

from __future__ import annotations

from dataclasses import dataclass

from uniun_bots.graph.note import Note
from uniun_bots.inference.request import Message
from uniun_bots.inputs.turn import Turn
from uniun_bots.skills.handles import Handles


@dataclass(frozen=True, slots=True)
class Context:
    turn: Turn
    messages: tuple[Message, ...]
    prompt_tokens: int
    handles: Handles
    """Of every note that the prompt shows and that may be cited."""
    ancestry: tuple[Note, ...]
    """The notes above the turn's, root first."""
    knowledge: tuple[Note, ...] = ()
    """The notes of the Manas that the prompt shows, best first."""

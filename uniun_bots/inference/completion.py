"""What an engine answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Finish = Literal["stop", "length"]


@dataclass(frozen=True, slots=True)
class Completion:
    text: str
    """Exactly what the model wrote, before any cleaning."""
    finish: Finish
    model: str
    prompt_tokens: int
    reused_tokens: int
    """Prompt tokens taken from kept state."""
    evaluated_tokens: int
    """Prompt tokens computed for this request; with the reused ones, all of the prompt."""
    generated_tokens: int
    seconds: float
    """From being asked to the last token, without any queue."""
    reuse_ms: float = 0.0
    """Of the seconds: to bring kept state back."""
    evaluate_ms: float = 0.0
    generate_ms: float = 0.0
    waiting_ms: float = 0.0
    """From being submitted until the end, without the seconds above: the queue, the model's loading, and what was
    lost by giving way. Told by the scheduler."""

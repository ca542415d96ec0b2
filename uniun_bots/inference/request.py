"""What an engine is asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Role = Literal["system", "user", "assistant"]


@dataclass(frozen=True, slots=True)
class Message:
    role: Role
    content: str
    """Plain text. An engine never reads control tokens out of it, whatever it spells."""


@dataclass(frozen=True, slots=True)
class Request:
    messages: tuple[Message, ...]
    max_tokens: int
    temperature: float = 0.7
    top_p: float = 0.95
    seed: int | None = None
    stop: tuple[str, ...] = ()
    json_schema: str | None = None
    """JSON text of a schema that the output must satisfy; None leaves it free."""
    tier: int | None = None
    """How urgent it is, smaller first; told to servers that order a queue of their own."""

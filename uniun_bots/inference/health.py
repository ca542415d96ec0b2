"""How an engine is doing, for `status` and counters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable


@dataclass(frozen=True, slots=True)
class EngineHealth:
    starts: int
    """Worker processes started."""
    deaths: int
    """Of them, those that ended without being told to."""
    last_death: str | None
    resting_s: float
    """Until the next start may be tried."""
    answered: int
    cancelled: int
    prompt_tokens: int
    """This and the next three over all requests, cancelled ones included."""
    reused_tokens: int
    evaluated_tokens: int
    generated_tokens: int
    kept_states: int
    """Copies of states beside the one in the context."""
    kept_bytes: int


@runtime_checkable
class Reporting(Protocol):
    """An engine that knows how it is doing."""

    def health(self) -> EngineHealth: ...

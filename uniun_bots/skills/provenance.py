"""An installed skill: the bytes that a person said yes to, where they came from, and whether they may be used."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class State(StrEnum):
    ACTIVE = "active"
    REVOKED = "revoked"
    """Its author took it back."""
    EXPIRED = "expired"
    LABELLED = "labelled"
    """Somebody whom the owner follows calls it malicious."""


@dataclass(frozen=True, slots=True)
class Origin:
    """The signed event that carried the text."""

    event_id: str
    author: str
    address: str
    """That which follows the author's updates."""
    version: str
    expires_at: int
    relays: tuple[str, ...]
    """Which had it."""
    labels: tuple[str, ...]
    """Events that warned of it and were shown before the yes: they do not disable it afterwards."""
    received_at: float
    raw: bytes


@dataclass(frozen=True, slots=True)
class Installed:
    name: str
    content: str
    content_hash: str
    source: str
    """The reference or the path that was given."""
    approved_by: str
    approved_at: float
    origin: Origin | None = None
    """None for what came from a local file."""
    state: State = State.ACTIVE
    reason: str = ""
    state_at: float = 0.0

    def state_now(self, now: float) -> State:
        """What is over is expired, whether somebody noted it or not."""
        over = self.origin is not None and self.origin.expires_at <= now
        return State.EXPIRED if over and self.state is State.ACTIVE else self.state

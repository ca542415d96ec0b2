"""What one relay said to one event."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Fate(StrEnum):
    """The machine-readable prefixes of NIP-01 (OK, CLOSED), and what happens without an answer."""

    ACCEPTED = "accepted"
    DUPLICATE = "duplicate"
    RATE_LIMITED = "rate-limited"
    AUTH_REQUIRED = "auth-required"
    RESTRICTED = "restricted"
    BLOCKED = "blocked"
    INVALID = "invalid"
    POW = "pow"
    ERROR = "error"
    UNANSWERED = "unanswered"
    """No OK within the deadline: the relay may or may not have it."""
    UNREACHABLE = "unreachable"

    @property
    def delivered(self) -> bool:
        return self in (Fate.ACCEPTED, Fate.DUPLICATE)

    @property
    def final(self) -> bool:
        """Sending the same bytes again cannot help."""
        return self.delivered or self in (Fate.RESTRICTED, Fate.BLOCKED, Fate.INVALID, Fate.POW)


@dataclass(frozen=True, slots=True)
class Receipt:
    event_id: str
    relay: str
    fate: Fate
    message: str
    """The relay's own words, or ours when it said nothing."""
    at: float

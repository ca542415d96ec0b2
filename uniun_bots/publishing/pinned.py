"""Finished bytes with their destination: nothing after this decides anything."""

from __future__ import annotations

from dataclasses import dataclass

from uniun_bots.approvals.payload import Unsigned
from uniun_bots.nostr.event import Event


@dataclass(frozen=True, slots=True)
class Pinned:
    event: Event
    relays: tuple[str, ...]
    surface: str | None
    """The surface our own note stands on; None for a feed note at top level."""


Post = Pinned | Unsigned
"""What pin gives: to be sent, or to be sent after a person's yes."""

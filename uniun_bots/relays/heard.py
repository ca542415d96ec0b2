"""An event as it came from a relay, before it is kept."""

from __future__ import annotations

from dataclasses import dataclass

from uniun_bots.nostr.event import Event


@dataclass(frozen=True, slots=True)
class Heard:
    event: Event
    relay: str
    """Its URL; empty when it is not known which relay of several had the event."""
    at: float
    """Local receive time, Unix seconds."""


@dataclass(frozen=True, slots=True)
class Sighting:
    """One more relay that carries an event; for `explain`."""

    event_id: str
    relay: str
    at: float

"""A note that a guard held: decided without an inference."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Held:
    note_id: str
    reason: str
    """One short sentence for people."""
    setting: str
    """The setting that decided, such as `input.max_age` or `limits.per_hour`."""

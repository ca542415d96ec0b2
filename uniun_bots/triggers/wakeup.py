"""A wakeup: something is pending for a Gana on a surface, or its timer is due."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Wakeup:
    gana: str
    surface: str
    at: float
    """Unix seconds before which it is not taken."""
    due: int | None = None
    """The timetable entry that raised it; None for a wakeup by notes."""
    first_at: float | None = None
    """When the first of the notes that raised it was matched: bounds the debounce. None when none did."""


TIMER = "timer"
"""The surface of a wakeup of a Gana that watches nothing."""

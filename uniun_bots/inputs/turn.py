"""A turn: what one run answers."""

from __future__ import annotations

from dataclasses import dataclass

from uniun_bots.graph.note import Note


@dataclass(frozen=True, slots=True)
class Turn:
    gana: str
    surface: str
    """Such as `group:<id>`; `timer` for a Gana that runs by the clock without an input."""
    notes: tuple[Note, ...]
    """Oldest first, at most 20; all of one author and thread unless `input.batch: all`. Empty on `timer`."""
    due: int | None
    """Unix seconds of the timetable entry when a timer raised it."""
    attempt: int
    """1 at the first try."""

    @property
    def keys(self) -> tuple[str, ...]:
        """What close writes to `answered`, one row each."""
        timer = (f"due:{self.due}",) if self.due is not None else ()
        return timer + tuple(note.id for note in self.notes)

    @property
    def key(self) -> str:
        return self.keys[0]

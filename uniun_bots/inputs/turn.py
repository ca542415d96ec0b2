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
    """In order of arrival, at most 20; all of one author and thread unless `input.batch: all`. Empty on `timer`."""
    due: int | None
    """Unix seconds of the timetable entry when a timer raised it."""
    attempt: int
    """1 at the first try."""

    def as_written(self) -> tuple[Note, ...]:
        """By the sender's stamps: relays tell what was missed newest first, and people mean the order they wrote in."""
        return tuple(sorted(self.notes, key=lambda note: (note.created_at, note.seq)))

    @property
    def latest(self) -> Note:
        """What a reply answers. Only of a turn with notes."""
        return self.as_written()[-1]

    @property
    def keys(self) -> tuple[str, ...]:
        """What close writes to `answered`, one row each."""
        timer = (f"due:{self.due}",) if self.due is not None else ()
        return timer + tuple(note.id for note in self.notes)

    @property
    def key(self) -> str:
        return self.keys[0]

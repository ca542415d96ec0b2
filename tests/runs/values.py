"""Values that the tests of runs and context share."""

from __future__ import annotations

from uniun_bots.graph.note import Note
from uniun_bots.inputs.turn import Turn

NOW = 1_750_000_000
ALICE, BOB, OWN = "a1" * 32, "b0" * 32, "00" * 32


def note(seq: int, text: str, author: str = ALICE, age_s: int = 60, deleted: bool = False) -> Note:
    return Note(
        seq=seq,
        id=f"{seq:064x}",
        author=author,
        kind=42,
        created_at=NOW - age_s,
        text=text,
        origin="relay",
        heard_at=NOW - age_s,
        root=None,
        parent=None,
        deleted=deleted,
    )


def turn(*notes: Note, due: int | None = None) -> Turn:
    surface = "group:1" if notes else "timer"
    return Turn(gana="harbour-master", surface=surface, notes=notes, due=due, attempt=1)

"""An author who asks us to stop while a turn of theirs is under way, where no take looks."""

from __future__ import annotations

import sqlite3

from uniun_bots.graph.find import COLUMNS, as_note
from uniun_bots.graph.note import Note
from uniun_bots.inputs.enabled import standing
from uniun_bots.inputs.judge import Judge
from uniun_bots.inputs.taken import Asked
from uniun_bots.inputs.turn import Turn

LATELY = 50
"""Notes behind a turn, newest first."""
LONGEST_CHARS = 200
"""A `stop` with our name before it, however that is spelled."""


def find_stop(tx: sqlite3.Connection, asked: Asked, turn: Turn) -> Note | None:
    """What the one who is answered said on the turn's surface since, if it is that we should stop."""
    rows = tx.execute(
        f"SELECT {COLUMNS} FROM surfaces s JOIN notes n USING (seq)"  # noqa: S608
        " WHERE s.surface = ? AND s.seq > ? AND n.author = ? AND length(n.text) <= ? ORDER BY s.seq DESC LIMIT ?",
        (turn.surface, turn.latest.seq, turn.latest.author, LONGEST_CHARS, LATELY),
    )
    notes = [as_note(row) for row in rows]
    if not notes:
        return None
    judge = Judge(tx, asked, standing(tx, turn.gana), notes)
    return next((note for note in notes if judge.asks_to_stop(note)), None)


def mute(tx: sqlite3.Connection, gana: str, stop: Note, now: float) -> None:
    tx.execute(
        "INSERT OR IGNORE INTO mutes (gana, author, note_id, at) VALUES (?, ?, ?, ?)",
        (gana, stop.author, stop.id, now),
    )

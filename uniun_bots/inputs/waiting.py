"""What waits behind a turn: the notes that the same take would choose from, past the ones it took."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from uniun_bots.graph.note import Note
from uniun_bots.inputs.cursors import pending
from uniun_bots.inputs.enabled import standing
from uniun_bots.inputs.judge import Judge
from uniun_bots.inputs.take import PAGE
from uniun_bots.inputs.taken import Asked
from uniun_bots.inputs.turn import Turn

MOST_PAGES = 32
"""Where thousands wait that the guards will hold, looking ends here: a reader of the store is held up meanwhile."""


def behind(tx: sqlite3.Connection, asked: Asked, turn: Turn) -> Iterator[Note]:
    """In order of arrival. What the guards would hold is not shown to a model by another way; budgets do not count."""
    taken = {note.id for note in turn.notes}
    state = standing(tx, asked.hosted.id)
    after = 0
    for _ in range(MOST_PAGES):
        page = pending(tx, asked.hosted.id, asked.surface, asked.own, after=after, most=PAGE)
        if not page:
            return
        after = page[-1].seq
        judge = Judge(tx, asked, state, page)
        yield from (note for note in page if note.id not in taken and judge.held(note, budgets=False) is None)

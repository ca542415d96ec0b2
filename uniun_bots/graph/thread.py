"""A note's conversation: what it answers up to the root, and what answers it."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from uniun_bots.graph.find import COLUMNS, as_note, note_by_id
from uniun_bots.graph.note import Note
from uniun_bots.graph.scope import Scope, where

MOST_ABOVE = 200
MOST_CHILDREN = 100


@dataclass(frozen=True, slots=True)
class Thread:
    ancestors: tuple[Note, ...]
    """From the root down to the parent."""
    note: Note | None
    """None when it is not known, was deleted, or is not for this reader."""
    children: tuple[Note, ...]
    """What answers it directly, in the order of writing."""
    more_children: bool
    """There are more; those that arrived first are here."""
    missing: str | None
    """The next id upwards that is not in the store: between it and the root there may be notes."""
    hidden: int
    """Ancestors passed over because they are not for this reader."""


NOTHING = Thread((), None, (), False, None, 0)


def thread(tx: sqlite3.Connection, note_id: str, scope: Scope) -> Thread:
    """Only notes of `scope`, and the note itself. Forged rings of answers are walked once."""
    note = _readable(tx, note_id, Scope(everything=True, audience=scope.audience))
    if note is None:
        return NOTHING
    ids, missing = _upwards(tx, note)
    found = [_readable(tx, above, scope) for above in reversed(ids)]
    shown = tuple(one for one in found if one)
    children = _children(tx, note, {note_id, *ids}, scope)
    more = len(children) > MOST_CHILDREN
    written = sorted(children[:MOST_CHILDREN], key=lambda child: (child.created_at, child.seq))
    return Thread(shown, note, tuple(written), more, missing, len(found) - len(shown))


def _readable(tx: sqlite3.Connection, note_id: str, scope: Scope) -> Note | None:
    condition, given = where(scope)
    row = tx.execute(
        f"SELECT {COLUMNS} FROM notes n WHERE n.id = ? AND {condition}",  # noqa: S608
        (note_id, *given),
    ).fetchone()
    return as_note(row) if row else None


def _upwards(tx: sqlite3.Connection, note: Note) -> tuple[list[str], str | None]:
    """Known ids from the parent up to the root, and the first id that is not known."""
    ids: list[str] = []
    seen = {note.id}
    wanted, missing = note.parent, None
    while wanted and wanted not in seen and len(ids) < MOST_ABOVE:
        seen.add(wanted)
        above = note_by_id(tx, wanted)
        if above is None:
            missing = wanted
            break
        ids.append(wanted)
        wanted = above.parent
    # The way up may be broken or too long; the root is named by the note itself.
    if (missing or wanted) and note.root and note.root not in seen and note_by_id(tx, note.root):
        ids.append(note.root)
    return ids, missing


def _children(tx: sqlite3.Connection, note: Note, above: set[str], scope: Scope) -> list[Note]:
    condition, given = where(scope)
    rows = tx.execute(
        f"SELECT {COLUMNS} FROM edges e CROSS JOIN notes n ON n.seq = e.seq"  # noqa: S608
        f" WHERE e.target = ? AND e.kind = 'reply' AND {condition} ORDER BY e.seq LIMIT ?",
        (note.id, *given, MOST_CHILDREN + 1 + len(above)),
    )
    return [child for row in rows if (child := as_note(row)).id not in above][: MOST_CHILDREN + 1]

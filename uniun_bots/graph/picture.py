"""A part of the graph to look at: notes, the edges between them, and their topics."""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from uniun_bots.graph.expand import expand
from uniun_bots.graph.find import COLUMNS, as_note
from uniun_bots.graph.note import Note
from uniun_bots.graph.profiles import names_of
from uniun_bots.graph.scope import Scope, count, from_where, where

MOST_OF_ONE = 40
"""Links followed from one note when the picture grows around another."""


@dataclass(frozen=True, slots=True)
class Picture:
    notes: tuple[Note, ...]
    names: dict[str, str]
    """Of authors."""
    edges: tuple[tuple[int, int, str], ...]
    """From, to (places in `notes`) and kind. What is the root and the parent in one is only a reply."""
    topics: tuple[tuple[str, tuple[int, ...]], ...]
    """With the places of the notes that have them."""
    left_out: int
    """Notes of the scope that found no room."""


def picture(tx: sqlite3.Connection, scope: Scope, most: int, around: str | None = None) -> Picture:
    """The newest arrivals of the scope; with `around` that note and what lies nearest to it, hop by hop."""
    notes = _around(tx, around, scope, most) if around else _newest(tx, scope, most)
    places = {note.seq: place for place, note in enumerate(notes)}
    return Picture(
        notes=tuple(notes),
        names=names_of(tx, {note.author for note in notes}),
        edges=tuple(_edges(tx, notes, places)),
        topics=tuple(_topics(tx, places)),
        left_out=0 if around else count(tx, scope) - len(notes),
    )


def _newest(tx: sqlite3.Connection, scope: Scope, most: int) -> list[Note]:
    source, given = from_where(scope)
    rows = tx.execute(f"SELECT {COLUMNS} {source} ORDER BY n.seq DESC LIMIT ?", (*given, most))
    return [as_note(row) for row in rows]


def _around(tx: sqlite3.Connection, note_id: str, scope: Scope, most: int) -> list[Note]:
    condition, given = where(Scope(everything=True, audience=scope.audience))
    start = tx.execute(
        f"SELECT {COLUMNS} FROM notes n WHERE n.id = ? AND {condition}",  # noqa: S608
        (note_id, *given),
    ).fetchone()
    found = {note_id: as_note(start)} if start else {}
    ring = list(found)
    while ring and len(found) < most:
        linked = {one.note.id: one.note for at in ring for one in expand(tx, at, scope, MOST_OF_ONE)}
        fresh = [new for new in linked if new not in found][: most - len(found)]
        found |= {new: linked[new] for new in fresh}
        ring = fresh
    return list(found.values())


def _edges(
    tx: sqlite3.Connection, notes: Sequence[Note], places: dict[int, int]
) -> list[tuple[int, int, str]]:
    seqs, ids = json.dumps(list(places)), {note.id: note.seq for note in notes}
    ids |= dict(
        tx.execute(
            "SELECT a.address, a.seq FROM json_each(?) j CROSS JOIN addresses a ON a.seq = j.value", (seqs,)
        ).fetchall()
    )
    rows = tx.execute(
        "SELECT e.seq, e.kind, e.target FROM json_each(?) j CROSS JOIN edges e ON e.seq = j.value", (seqs,)
    )
    found = {(row["seq"], ids[row["target"]], row["kind"]) for row in rows if row["target"] in ids}
    replies = {(seq, to) for seq, to, kind in found if kind == "reply"}
    return [
        (places[seq], places[to], kind)
        for seq, to, kind in sorted(found)
        if kind != "root" or (seq, to) not in replies
    ]


def _topics(tx: sqlite3.Connection, places: dict[int, int]) -> list[tuple[str, tuple[int, ...]]]:
    rows = tx.execute(
        "SELECT t.topic, t.seq FROM json_each(?) j CROSS JOIN topics t ON t.seq = j.value ORDER BY t.topic, t.seq",
        (json.dumps(list(places)),),
    )
    found: defaultdict[str, list[int]] = defaultdict(list)
    for row in rows:
        found[row["topic"]].append(places[row["seq"]])
    return [(topic, tuple(notes)) for topic, notes in found.items()]

"""One hop through the graph: what a note is tied to, by edges both ways and by topics that it shares."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from math import log2
from typing import Literal

from uniun_bots.graph.find import COLUMNS, as_note
from uniun_bots.graph.note import Note
from uniun_bots.graph.scope import Scope, where

EdgeKind = Literal["root", "reply", "mention", "quote"]

WEIGHTS: dict[EdgeKind, float] = {"reply": 4.0, "quote": 3.0, "mention": 2.0, "root": 1.0}
TOPIC_WEIGHT = 2.0
"""Of a topic that only these two have; a topic of thousands of notes ties them hardly at all."""
MOST_OF_ONE_TIE = 200
"""Notes looked at by one kind of edge, or one topic: the newest that arrived."""
MOST_TOPICS = 20
COMMON = 10_000
"""A topic of more notes is not counted further."""


# A target is a note's id, or the address that it is a version of.
NAMED = (
    "SELECT t.seq FROM edges e JOIN notes t ON t.id = e.target WHERE e.seq = ? AND e.kind = ?"
    " UNION SELECT a.seq FROM edges e JOIN addresses a ON a.address = e.target WHERE e.seq = ? AND e.kind = ?"
)
NAMES = "SELECT ? UNION ALL SELECT address FROM addresses WHERE seq = ?"


@dataclass(frozen=True, slots=True)
class Tie:
    kind: EdgeKind | Literal["topic"]
    outgoing: bool
    """Whether the note that was asked about names the other one; True for topics, which have no direction."""
    topic: str = ""


@dataclass(frozen=True, slots=True)
class Linked:
    note: Note
    ties: tuple[Tie, ...]
    """The strongest first."""
    score: float


def expand(tx: sqlite3.Connection, note_id: str, scope: Scope, limit: int) -> list[Linked]:
    """The best tied first, the newest first among equals; never the note itself, nothing outside of `scope`.

    The note may stand outside of the scope, but not in somebody else's conversation: then it has no links.
    """
    readable, given = where(Scope(everything=True, audience=scope.audience))
    start = tx.execute(
        f"SELECT n.seq FROM notes n WHERE n.id = ? AND {readable}",  # noqa: S608
        (note_id, *given),
    ).fetchone()
    if start is None or limit < 1:
        return []
    weights: defaultdict[int, dict[Tie, float]] = defaultdict(dict)
    for seq, tie, weight in _ties(tx, int(start["seq"]), note_id, scope):
        if tie.kind != "root" or Tie("reply", tie.outgoing) not in weights[seq]:
            weights[seq][tie] = weight
    weights.pop(int(start["seq"]), None)
    best = sorted(weights, key=lambda seq: (-sum(weights[seq].values()), -seq))[:limit]
    notes = _notes(tx, best)
    return [_linked(notes[seq], weights[seq]) for seq in best]


def _linked(note: Note, weights: dict[Tie, float]) -> Linked:
    ties = sorted(weights, key=lambda tie: (-weights[tie], tie.kind, tie.topic))
    return Linked(note, tuple(ties), sum(weights.values()))


def _ties(tx: sqlite3.Connection, start: int, note_id: str, scope: Scope) -> Iterator[tuple[int, Tie, float]]:
    condition, given = where(scope)
    targets = [row[0] for row in tx.execute(NAMES, (note_id, start))]
    for kind, weight in WEIGHTS.items():
        named = tx.execute(
            f"SELECT n.seq FROM ({NAMED}) t CROSS JOIN notes n ON n.seq = t.seq WHERE {condition} LIMIT ?",  # noqa: S608
            (start, kind, start, kind, *given, MOST_OF_ONE_TIE),
        )
        yield from [(int(row[0]), Tie(kind, True), weight) for row in named]
        for target in targets:  # one by one: together they would have to be sorted
            naming = tx.execute(
                "SELECT n.seq FROM edges e CROSS JOIN notes n ON n.seq = e.seq"  # noqa: S608
                f" WHERE e.target = ? AND e.kind = ? AND {condition} ORDER BY e.seq DESC LIMIT ?",
                (target, kind, *given, MOST_OF_ONE_TIE),
            )
            yield from [(int(row[0]), Tie(kind, False), weight) for row in naming]
    for topic, weight in _topics(tx, start):
        sharing = tx.execute(
            "SELECT n.seq FROM topics t CROSS JOIN notes n ON n.seq = t.seq"  # noqa: S608
            f" WHERE t.topic = ? AND {condition} ORDER BY t.seq DESC LIMIT ?",
            (topic, *given, MOST_OF_ONE_TIE),
        )
        yield from [(int(row[0]), Tie("topic", True, topic), weight) for row in sharing]


def _topics(tx: sqlite3.Connection, seq: int) -> list[tuple[str, float]]:
    """The rarest of the note's topics, each with what sharing it weighs."""
    rows = tx.execute(
        "SELECT * FROM (SELECT topic, (SELECT count(*) FROM (SELECT 1 FROM topics o WHERE o.topic = t.topic LIMIT ?))"
        " AS notes FROM topics t WHERE t.seq = ?) WHERE notes > 1 ORDER BY notes, topic LIMIT ?",
        (COMMON, seq, MOST_TOPICS),
    )
    return [(row["topic"], TOPIC_WEIGHT / log2(row["notes"])) for row in rows]


def _notes(tx: sqlite3.Connection, seqs: list[int]) -> dict[int, Note]:
    marks = ",".join("?" * len(seqs))
    rows = tx.execute(f"SELECT {COLUMNS} FROM notes n WHERE n.seq IN ({marks})", seqs)  # noqa: S608
    return {row["seq"]: as_note(row) for row in rows}

"""What a Gana knows about a turn: the notes of its Manas, those that fit the input first."""

from __future__ import annotations

import sqlite3
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from uniun_bots.database.store import Store
from uniun_bots.graph.find import COLUMNS, as_note
from uniun_bots.graph.note import Note
from uniun_bots.graph.profiles import names_of
from uniun_bots.graph.scope import Scope, scope_of, where
from uniun_bots.inputs.turn import Turn
from uniun_bots.nostr.surfaces import audience_of
from uniun_bots.personas.hosted import HostedGana

MOST_NOTES = 24
"""More than these are not weighed against each other: a prompt has room for a handful."""
LATELY = 200
"""The newest arrivals of a Manas, of which the newest by date are taken."""
QUERY_CHARS = 2000

Rank = Callable[[str, Scope, int], Awaitable[Sequence[Note]]]
"""The best notes of a scope for a text, at most so many."""


@dataclass(frozen=True, slots=True)
class Knowledge:
    notes: tuple[Note, ...]
    """Best first."""
    names: dict[str, str]
    """Of their authors."""


NOTHING = Knowledge((), {})


def scope_of_turn(hosted: HostedGana, turn: Turn) -> Scope | None:
    """None for a Gana without a Manas, and for one that looks things up by itself, round by round.

    Private notes come along in their own conversation only, which is the one that is answered.
    """
    if hosted.gana.agentic or not hosted.gana.manas:
        return None
    return scope_of(hosted, audience_of(turn.surface))


async def look_up_knowledge(store: Store, turn: Turn, scope: Scope, rank: Rank) -> Knowledge:
    """What fits the input first and the newest behind it; the newest alone without an input."""
    query = "\n".join(note.text[:QUERY_CHARS] for note in turn.as_written()).strip()
    best = tuple(await rank(query[:QUERY_CHARS], scope, MOST_NOTES)) if query else ()

    def fill(tx: sqlite3.Connection) -> Knowledge:
        known = {note.id for note in best}
        fresh = newest(tx, scope, MOST_NOTES) if len(best) < MOST_NOTES else []
        notes = (*best, *(note for note in fresh if note.id not in known))[:MOST_NOTES]
        return Knowledge(notes, names_of(tx, {note.author for note in notes}))

    return await store.read(fill)


def newest(tx: sqlite3.Connection, scope: Scope, limit: int) -> list[Note]:
    """By the date that the author gave, of those that arrived lately."""
    found: dict[str, Note] = {}
    test, parameters = where(scope)
    for name in scope.manas:  # one by one, so that each is read from its end and not as a whole
        rows = tx.execute(
            f"SELECT {COLUMNS} FROM manas_notes m CROSS JOIN notes n ON n.seq = m.seq"  # noqa: S608
            f" WHERE m.manas = ? AND {test} ORDER BY m.seq DESC LIMIT ?",
            (name, *parameters, LATELY),
        )
        found.update((row["id"], as_note(row)) for row in rows)
    return sorted(found.values(), key=lambda note: (-note.created_at, -note.seq))[:limit]

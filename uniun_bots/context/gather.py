"""gather: what is known around a turn, with missing ancestors fetched once."""

from __future__ import annotations

import sqlite3
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from uniun_bots.database.store import Store
from uniun_bots.graph.find import COLUMNS, MOST_ANCESTORS, ancestry, as_note
from uniun_bots.graph.note import Note
from uniun_bots.graph.profiles import names_of
from uniun_bots.graph.scope import Scope, count
from uniun_bots.inputs.turn import Turn
from uniun_bots.nostr.surfaces import Surface, audience_of

ELSEWHERE = ("mentions", "user")
"""Where an answer never stands where its input does."""
LATELY = 200
"""Notes of a surface to look through for our last reply: some surfaces hold millions, and never one of ours."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    ancestry: tuple[Note, ...]
    """Root first."""
    names: dict[str, str]
    last_reply: str | None
    """What this identity said last on the surface, unless that is long ago."""
    knows: bool = False
    """Whether the scope of knowledge holds anything at all."""


def look_around(
    tx: sqlite3.Connection, turn: Turn, pubkey: str, scope: Scope | None = None
) -> tuple[Surroundings, str | None]:
    """With the id of the next ancestor that is not in the store, if one is missing."""
    above = ancestry(tx, turn.latest, audience_of(turn.surface)) if turn.notes else None
    notes = above.notes if above else ()
    people = {note.author for note in (*notes, *turn.notes)}
    knows = scope is not None and count(tx, scope, at_most=1) > 0
    around = Surroundings(notes, names_of(tx, people), last_reply(tx, turn.surface, pubkey), knows)
    return around, above.missing if above else None


def last_reply(tx: sqlite3.Connection, surface: str, pubkey: str) -> str | None:
    """What this identity said last on the surface, unless that is long ago."""
    if Surface.parse(surface).kind in ELSEWHERE:
        return None
    last = tx.execute(
        f"SELECT {COLUMNS} FROM (SELECT seq FROM surfaces WHERE surface = ? ORDER BY seq DESC LIMIT ?) s"  # noqa: S608
        " JOIN notes n USING (seq) WHERE n.author = ? AND n.origin = 'own' ORDER BY s.seq DESC LIMIT 1",
        (surface, LATELY, pubkey),
    ).fetchone()
    return as_note(last).text if last else None


async def gather(
    store: Store,
    turn: Turn,
    pubkey: str,
    find: Callable[[str], Awaitable[bool]],
    scope: Scope | None = None,
) -> Surroundings:
    """`find` looks for one note on relays and says whether it was kept; the whole may take 2 s at most."""
    for _ in range(MOST_ANCESTORS):
        around, missing = await store.read(lambda tx: look_around(tx, turn, pubkey, scope))
        if missing is None or not await find(missing):
            return around
    return around

"""The output skills: the decision to publish, with nothing in it but words and what they refer to."""

from __future__ import annotations

from uniun_bots.graph.citable import citable
from uniun_bots.skills.arguments import MOST_REFERENCES, Post
from uniun_bots.skills.effect import Publish
from uniun_bots.skills.reach import Reach
from uniun_bots.skills.reading import named

MOST_TOLD = 20


async def publish(given: Post, reach: Reach) -> Publish:
    meant: dict[str, str] = {}
    dropped: list[str] = []
    for handle in dict.fromkeys(given.referenceNoteIds):
        note_id = named(handle, reach.handles)
        if note_id is None:
            dropped.append(f"{handle[:20]!r}: never shown")
        else:
            meant.setdefault(note_id, handle)
    answered = {note.id for note in reach.turn.notes} if reach.turn else set()
    known = await reach.store.read(lambda tx: citable(tx, meant.keys(), reach.scope.audience))
    references: list[str] = []
    for note_id, handle in meant.items():
        if note_id in answered:
            continue  # It is answered, which its own tag says.
        if note_id not in known:
            dropped.append(f"{handle}: no signed note that may be named here")
        elif len(references) == MOST_REFERENCES:
            dropped.append(f"{handle}: more than {MOST_REFERENCES}")
        else:
            references.append(note_id)
    return Publish(given.body, tuple(references), tuple(dropped[:MOST_TOLD]))

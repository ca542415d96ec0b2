"""Which of the notes that may help fit: whole ones only, the best first."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from uniun_bots.graph.note import Note
from uniun_bots.inference.engine import Engine
from uniun_bots.inference.request import Message

CHARS_PER_TOKEN = 16
"""No ordinary text has more; what is beyond is not counted."""
BETWEEN = 2
"""Tokens of the blank line between two notes, at most."""
MOST_REMEMBERED = 20_000


class Costs:
    """What notes cost in tokens, measured once for each model: the same ones are shown again and again."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, int], int] = {}

    async def of(self, note: Note, shown: str, model: str, engine: Engine) -> int:
        key = (model, note.seq)  # a draft that was rewritten has another seq
        if key not in self._known:
            if len(self._known) >= MOST_REMEMBERED:
                self._known.clear()
            empty = await engine.count((Message("system", ""),))
            self._known[key] = await engine.count((Message("system", shown),)) - empty + BETWEEN
        return self._known[key]


async def pack(
    notes: Sequence[Note],
    shown: Callable[[Note], str],
    room: int,
    *,
    model: str,
    engine: Engine,
    costs: Costs,
) -> tuple[Note, ...]:
    """`notes` best first. One that does not fit is passed over, and a smaller one behind it may still fit."""
    candidates = [note for note in notes if len(note.text) <= CHARS_PER_TOKEN * max(room, 0)]
    counted = await asyncio.gather(*(costs.of(note, shown(note), model, engine) for note in candidates))
    packed = []
    for note, tokens in zip(candidates, counted, strict=True):
        if tokens <= room:
            packed.append(note)
            room -= tokens
    return tuple(packed)

"""Import a dump batch by batch: read, leave out what is known, verify the rest, hand it to the store."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterable
from dataclasses import dataclass, field
from typing import BinaryIO

from uniun_bots.graph.dump import BadLine, Piece, Place, read_piece, tail_of
from uniun_bots.graph.imports import Mark
from uniun_bots.graph.keep import NOTE_KINDS, READ_KINDS
from uniun_bots.nostr.event import Event
from uniun_bots.nostr.read import verify

BATCH_LINES = 500
BATCH_BYTES = 2_000_000
"""And one more line, at most."""
MOST_TOLD = 20


@dataclass(frozen=True, slots=True)
class Taken:
    """What the store made of a batch."""

    new: int
    expired: int


@dataclass(slots=True)
class Tally:
    lines: int = 0
    new: int = 0
    """Notes that were not here."""
    known: int = 0
    other: int = 0
    """Profiles and deletions, read for what they say."""
    passed: int = 0
    """Events of kinds that are not kept."""
    expired: int = 0
    bad: int = 0
    told: list[BadLine] = field(default_factory=list)
    """The first bad lines."""

    def count_bad(self, lines: Iterable[BadLine]) -> None:
        for line in sorted(lines, key=lambda line: line.number):
            self.bad += 1
            if len(self.told) < MOST_TOLD:
                self.told.append(line)


Known = Callable[[Collection[str]], Awaitable[set[str]]]
"""Which of these ids are notes here."""
Take = Callable[[list[Event], Mark | None], Awaitable[Taken]]
"""Keep verified events and the mark in one transaction."""
Tell = Callable[[Place], None]


async def import_dump(
    opened: BinaryIO, start: Place, file: str | None, known: Known, take: Take, tell: Tell
) -> Tally:
    """`file` is what the marks go by; None for a stream that cannot be read again."""
    tally, at = Tally(), start
    while True:
        piece = await asyncio.to_thread(read_piece, opened, at, BATCH_LINES, BATCH_BYTES)
        if piece.end == at:
            return tally
        mark = await asyncio.to_thread(_mark, opened, file, piece.end) if file else None
        await _import_piece(piece, mark, known, take, tally)
        tally.lines += piece.end.line - at.line
        at = piece.end
        tell(at)


async def _import_piece(piece: Piece, mark: Mark | None, known: Known, take: Take, tally: Tally) -> None:
    kept_kinds = [(number, event) for number, event in piece.events if event.kind in READ_KINDS]
    here = await known([event.id for _, event in kept_kinds if event.kind in NOTE_KINDS])
    unknown = [(number, event) for number, event in kept_kinds if event.id not in here]
    sound, forged = await asyncio.to_thread(_verified, unknown)
    taken = await take(sound, mark)
    notes = sum(event.kind in NOTE_KINDS for event in sound)
    tally.passed += len(piece.events) - len(kept_kinds)
    tally.new += taken.new
    tally.expired += taken.expired
    tally.other += len(sound) - notes
    tally.known += len(kept_kinds) - len(unknown) + max(0, notes - taken.new - taken.expired)
    tally.count_bad([*piece.bad, *forged])


def _verified(lines: Iterable[tuple[int, Event]]) -> tuple[list[Event], list[BadLine]]:
    sound: list[Event] = []
    forged: list[BadLine] = []
    for number, event in lines:
        if verify(event):
            sound.append(event)
        else:
            forged.append(BadLine(number, "its id or its signature does not fit"))
    return sound, forged


def _mark(opened: BinaryIO, file: str, at: Place) -> Mark:
    return Mark(file, at.offset, at.line, tail_of(opened, at.offset))

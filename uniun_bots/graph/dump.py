"""Dumps: signed events as JSON, one on each line, as `nak` and `strfry export` write them."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import BinaryIO

from uniun_bots.errors import BadEvent
from uniun_bots.graph.scope import Scope, from_where
from uniun_bots.nostr.event import Event
from uniun_bots.nostr.read import SIZE_CAP_BYTES, read_event

TAIL_BYTES = 4096
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Place:
    """Between two lines."""

    offset: int = 0
    line: int = 0


@dataclass(frozen=True, slots=True)
class BadLine:
    number: int
    reason: str

    def __str__(self) -> str:
        return f"line {self.number:,}: {self.reason}"


@dataclass(frozen=True, slots=True)
class Piece:
    """Some lines of a dump, read and not yet verified."""

    events: tuple[tuple[int, Event], ...]
    """With the number of the line of each."""
    bad: tuple[BadLine, ...]
    end: Place
    """The same as where it began: the dump is through."""


def read_piece(opened: BinaryIO, start: Place, lines: int, size_bytes: int) -> Piece:
    """Up to `lines` lines, or those that reach `size_bytes`; blank lines are passed over."""
    events: list[tuple[int, Event]] = []
    bad: list[BadLine] = []
    offset, number = start.offset, start.line
    while number - start.line < lines and offset - start.offset < size_bytes:
        raw, read_bytes = _line(opened)
        if not read_bytes:
            break
        offset, number = offset + read_bytes, number + 1
        if number == 1:
            raw = raw.removeprefix(_BOM)
        if not raw.strip():
            continue
        try:
            events.append((number, read_event(raw)))
        except BadEvent as fault:
            bad.append(BadLine(number, str(fault)))
    return Piece(tuple(events), tuple(bad), Place(offset, number))


def _line(opened: BinaryIO) -> tuple[bytes, int]:
    """What can be read of the next line, and its length; of a line that is far too long not everything is held."""
    most = SIZE_CAP_BYTES + 2
    raw = opened.readline(most)
    length, piece = len(raw), raw
    while piece and not piece.endswith(b"\n") and len(piece) == most:
        piece = opened.readline(most)
        length += len(piece)
    return raw, length


def tail_of(opened: BinaryIO, offset: int) -> str:
    """A digest of the bytes before `offset`; leaves the file there."""
    opened.seek(max(0, offset - TAIL_BYTES))
    digest = hashlib.sha256(opened.read(min(offset, TAIL_BYTES))).hexdigest()
    opened.seek(offset)
    return digest


def signed_events(
    tx: sqlite3.Connection, scope: Scope, after: int, at_most: int
) -> Sequence[tuple[int, bytes]]:
    """(seq, JSON) of public notes after `after`, in order. A draft has no signed bytes and never comes along."""
    source, parameters = from_where(scope)
    rows = tx.execute(
        f"SELECT n.seq, n.raw {source} AND n.raw IS NOT NULL AND n.origin != 'draft'"
        " AND n.audience IS NULL AND n.seq > ? ORDER BY n.seq LIMIT ?",
        (*parameters, after, at_most),
    )
    return [(row[0], row[1]) for row in rows]

"""Notes as results of skills: one line of JSON, short, with handles instead of ids."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from uniun_bots.graph.label import label_of
from uniun_bots.graph.note import Note
from uniun_bots.graph.profiles import names_of
from uniun_bots.nostr.text import cut
from uniun_bots.skills.effect import Answer
from uniun_bots.skills.reach import Reach

RESULT_CHARS = 3500
PREVIEW_CHARS = 160
LINE_CHARS = 600
"""Of each note where a conversation is read."""
WHOLE_CHARS = 3000


@dataclass(frozen=True, slots=True)
class Row:
    note_id: str
    says: dict[str, Any]
    """What stands beside the handle."""


def names_for(tx: sqlite3.Connection, notes: Iterable[Note]) -> dict[str, str]:
    return names_of(tx, {note.author for note in notes})


def preview(note: Note) -> Row:
    return Row(note.id, {"date": _date(note), "preview": cut(" ".join(note.text.split()), PREVIEW_CHARS)})


def spoken(note: Note, reach: Reach, names: dict[str, str], chars: int = LINE_CHARS) -> Row:
    by = label_of(note.author, reach.pubkey, names).strip('"')
    return Row(note.id, {"by": by, "date": _date(note), "text": cut(note.text.strip(), chars)})


def answer(reach: Reach, rows: Sequence[Row], left_out: int = 0, **more: Any) -> Answer:
    """As many of the rows as fit, and how many did not; handles are given to those that are shown."""
    for kept in range(len(rows), -1, -1):
        unseen = left_out + len(rows) - kept
        rest = more | ({"left_out": unseen} if unseen else {})
        # Only for measuring: a handle is given when it is sure that its note is shown.
        size = len(line({"notes": [{"note": "n000"} | row.says for row in rows[:kept]]} | rest))
        if size <= RESULT_CHARS or kept <= 1:
            break
    shown = rows[:kept]
    found = [{"note": reach.handles.give(row.note_id)} | row.says for row in shown]
    return Answer(line({"notes": found} | rest), tuple(row.note_id for row in shown))


def fault(told: str) -> Answer:
    return Answer(line({"error": told}), is_fault=True)


def line(value: dict[str, Any]) -> str:
    """JSON on one line, whatever a text has in it."""
    text = json.dumps(value, ensure_ascii=False)
    for char in "\u2028\u2029\x85":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return text


def _date(note: Note) -> str:
    try:
        return datetime.fromtimestamp(note.created_at, UTC).strftime("%Y-%m-%d")
    except (ValueError, OverflowError, OSError):
        return "unknown"

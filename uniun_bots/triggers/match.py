"""match: new notes -> wakeups of the Ganas on their surfaces. A look-up by surface, never a scan over Ganas."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

MOST_NOTES = 2000

Key = tuple[str, str]
"""(Gana id, surface)."""


@dataclass(frozen=True, slots=True)
class Matched:
    keys: tuple[Key, ...]
    upto: int
    """The last seq that was looked at: where the wake mark goes."""
    notes: int
    more: bool
    """Notes are left that were not looked at yet."""


def match(tx: sqlite3.Connection, watchers: Mapping[str, Sequence[str]], own: Collection[str]) -> Matched:
    """Look at the notes past the wake mark. `watchers`: surface to the Ganas that its notes wake."""
    mark = tx.execute("SELECT seq FROM wake_mark").fetchone()[0]
    newest = tx.execute("SELECT coalesce(max(seq), 0) FROM notes").fetchone()[0]
    upto = min(newest, mark + MOST_NOTES)
    if upto == mark:
        return Matched((), upto, 0, False)
    found = {
        (row["surface"], row["author"])
        for row in tx.execute(
            "SELECT s.surface, n.author FROM notes n JOIN surfaces s ON s.seq = n.seq"
            " WHERE n.seq > ? AND n.seq <= ? AND n.origin = 'relay'",
            (mark, upto),
        )
        if row["surface"] in watchers
    }
    surfaces = {surface for surface, author in found if author not in own}
    keys = tuple((gana, surface) for surface in sorted(surfaces) for gana in watchers[surface])
    return Matched(keys, upto, upto - mark, upto < newest)


def write_wakeups(tx: sqlite3.Connection, fresh: Collection[Key], upto: int, now: float) -> None:
    """The rows of those that did not stand before, and the mark, in one unit.

    Nobody waits for this: a start finds whatever is pending by itself, so a crash before it loses no wakeup.
    """
    tx.executemany(
        "INSERT OR IGNORE INTO wakeups (gana, surface, due, first_at) VALUES (?, ?, ?, ?)",
        [(gana, surface, now, now) for gana, surface in fresh],
    )
    tx.execute("UPDATE wake_mark SET seq = ?", (upto,))


def settle(tx: sqlite3.Connection, gana: str, surface: str, *, more: bool) -> None:
    """After a decision: the row stays while something is pending."""
    if not more:
        tx.execute("DELETE FROM wakeups WHERE gana = ? AND surface = ?", (gana, surface))

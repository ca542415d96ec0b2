"""Budgets: how often a Gana may run, read from `answered` (kept) and never from the run log (pruned).

Runs of any ending count; so do failed attempts and the runs that are under way.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from uniun_bots.graph.note import Note
from uniun_bots.inputs.held import Held
from uniun_bots.personas.gana import Limits

HOUR_S = 3600.0
DAY_S = 86_400.0


@dataclass(frozen=True, slots=True)
class Running:
    """A turn that was taken and is not closed yet."""

    gana: str
    surface: str
    keys: tuple[str, ...]
    author: str
    thread: str


class Budgets:
    """Of one Gana at one moment: what it used up altogether is counted once, however many notes are judged."""

    def __init__(self, tx: sqlite3.Connection, gana: str, limits: Limits, now: float) -> None:
        self._tx, self._gana, self._limits, self._now = tx, gana, limits, now
        hour = self._spent("at > ?", now - HOUR_S)
        # The rows of one run have one time, so none is counted twice; a busy Gana has thousands.
        earlier = self._spent("at > ? AND at <= ?", now - DAY_S, now - HOUR_S)
        self._hour = hour + self._failed(HOUR_S)
        self._day = hour + earlier + self._failed(DAY_S)

    def used_up(
        self, running: Collection[Running], note: Note | None = None, thread: str = ""
    ) -> Held | None:
        """The first budget that is used up. Without a note (a timer) the author and thread ones do not apply."""
        for name, used, what in self._uses(running, note, thread):
            limit: int = getattr(self._limits, name)
            if used >= limit:
                reason = f"the budget is used up: {used} {what} (limit {limit})"
                return Held(note.id if note else "", reason, f"limits.{name}")
        return None

    def _uses(
        self, running: Collection[Running], note: Note | None, thread: str
    ) -> Iterator[tuple[str, int, str]]:
        yield "per_hour", self._hour + len(running), "runs this hour"
        yield "per_day", self._day + len(running), "runs today"
        if note is None:
            return
        of_author = self._spent("author = ? AND at > ?", note.author, self._now - HOUR_S)
        of_author += sum(one.author == note.author for one in running)
        yield "per_author_per_hour", of_author, "runs for this author this hour"
        of_thread = self._spent("thread = ?", thread) + sum(one.thread == thread for one in running)
        yield "per_thread", of_thread, "runs in this thread"

    def _spent(self, where: str, *args: object) -> int:
        found = self._tx.execute(
            f"SELECT count(DISTINCT run) FROM answered WHERE gana = ? AND run IS NOT NULL AND {where}",  # noqa: S608
            (self._gana, *args),
        )
        return int(found.fetchone()[0])

    def _failed(self, within_s: float) -> int:
        found = self._tx.execute(
            "SELECT coalesce(sum(attempts), 0) FROM retries WHERE gana = ? AND at > ?",
            (self._gana, self._now - within_s),
        )
        return int(found.fetchone()[0])

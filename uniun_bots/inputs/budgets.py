"""Budgets: how often a Gana may run, read from `answered` (kept) and never from the run log (pruned).

Runs of any ending count; so do failed attempts and the runs that are under way.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection
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


def over_budget(
    tx: sqlite3.Connection,
    gana: str,
    limits: Limits,
    running: Collection[Running],
    now: float,
    *,
    note: Note | None,
    thread: str,
) -> Held | None:
    """The first budget that is used up. Without a note (a timer) the author and thread ones do not apply."""
    note_id = note.id if note else ""

    def spent(where: str, *args: object) -> int:
        found = tx.execute(
            f"SELECT count(DISTINCT run) FROM answered WHERE gana = ? AND run IS NOT NULL AND {where}",  # noqa: S608
            (gana, *args),
        )
        return int(found.fetchone()[0])

    failed = int(
        tx.execute(
            "SELECT coalesce(sum(attempts), 0) FROM retries WHERE gana = ? AND at > ?", (gana, now - HOUR_S)
        ).fetchone()[0]
    )
    checks: list[tuple[str, int, int, str]] = [
        (
            "per_hour",
            limits.per_hour,
            spent("at > ?", now - HOUR_S) + failed + len(running),
            "runs this hour",
        ),
        ("per_day", limits.per_day, spent("at > ?", now - DAY_S) + failed + len(running), "runs today"),
    ]
    if note:
        by_author = sum(one.author == note.author for one in running)
        in_thread = sum(one.thread == thread for one in running)
        checks += [
            (
                "per_author_per_hour",
                limits.per_author_per_hour,
                spent("at > ? AND author = ?", now - HOUR_S, note.author) + by_author,
                "runs for this author this hour",
            ),
            (
                "per_thread",
                limits.per_thread,
                spent("thread = ?", thread) + in_thread,
                "runs in this thread",
            ),
        ]
    for name, limit, used, what in checks:
        if used >= limit:
            return Held(note_id, f"the budget is used up: {used} {what} (limit {limit})", f"limits.{name}")
    return None

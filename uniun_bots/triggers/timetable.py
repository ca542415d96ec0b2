"""When Ganas with a timer are due: `every`, `cron`, and `once-on-enable`."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from croniter import croniter

from uniun_bots.personas.gana import Gana, Trigger
from uniun_bots.personas.time_zone import zone as zone_of


@dataclass(frozen=True, slots=True)
class Entry:
    gana: str
    due: int


def rule_of(gana: Gana) -> str:
    """A text that changes when the schedule does; empty for a Gana without a timer."""
    if gana.trigger is Trigger.ONCE_ON_ENABLE:
        return "once"
    if not gana.trigger.by_timer:
        return ""
    return f"every {gana.every_s}" if gana.every_s is not None else f"cron {gana.cron}"


def next_due(rule: str, after: float, zone: str) -> int | None:
    """The first time later than `after`, Unix seconds; None when the rule has no further one."""
    word, _, rest = rule.partition(" ")
    if word == "every":
        return int(after) + int(rest)
    if word == "cron":
        return _next_by_cron(rest, after, zone)
    return None


def _next_by_cron(line: str, after: float, zone: str) -> int:
    """When clocks are set back, an hour comes twice: a line that names its hours fires in the first one only."""
    local = zone_of(zone)
    times = croniter(line, datetime.fromtimestamp(after, local))
    names_hours = not line.split()[1].startswith("*")
    while True:
        due = int(times.get_next(float))
        if not (names_hours and datetime.fromtimestamp(due, local).fold):
            return due


def enter(tx: sqlite3.Connection, gana: Gana, now: float, zone: str) -> Entry | None:
    """What stands for this Gana; a new or changed rule starts at now. None without a timer."""
    rule = rule_of(gana)
    if not rule:
        tx.execute("DELETE FROM timetable WHERE gana = ?", (gana.id,))
        return None
    row = tx.execute("SELECT due, rule FROM timetable WHERE gana = ?", (gana.id,)).fetchone()
    if row and row["rule"] == rule:
        return Entry(gana.id, row["due"])
    due = int(now) if rule == "once" else next_due(rule, now, zone)
    if due is None:
        return None
    _write(tx, gana.id, due, rule)
    return Entry(gana.id, due)


def standing_entries(tx: sqlite3.Connection, ganas: Iterable[str]) -> list[Entry]:
    rows = [
        tx.execute("SELECT gana, due FROM timetable WHERE gana = ?", (gana,)).fetchone() for gana in ganas
    ]
    return [Entry(row["gana"], row["due"]) for row in rows if row]


def move_on(tx: sqlite3.Connection, gana: str, done: int, now: float, zone: str) -> Entry | None:
    """The entry `done` is decided: on to the next one. Times missed meanwhile are one run, not many."""
    row = tx.execute("SELECT due, rule FROM timetable WHERE gana = ?", (gana,)).fetchone()
    if row is None or row["due"] != done:
        return Entry(gana, row["due"]) if row else None
    due = next_due(row["rule"], max(now, done), zone)
    if due is None:
        return None
    _write(tx, gana, due, row["rule"])
    return Entry(gana, due)


def forget(tx: sqlite3.Connection, gana: str) -> None:
    """So that the rule starts anew when the Gana is turned on again."""
    tx.execute("DELETE FROM timetable WHERE gana = ?", (gana,))


def _write(tx: sqlite3.Connection, gana: str, due: int, rule: str) -> None:
    tx.execute(
        "INSERT INTO timetable (gana, due, rule) VALUES (?, ?, ?)"
        " ON CONFLICT (gana) DO UPDATE SET due = excluded.due, rule = excluded.rule",
        (gana, due, rule),
    )

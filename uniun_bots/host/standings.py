"""Bring the rows about Ganas in line with the files: what is on now, since when, and its timetable."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Collection

from uniun_bots.host.roster import Roster
from uniun_bots.inputs.cursors import begin
from uniun_bots.inputs.elsewhere import notice_kept
from uniun_bots.inputs.enabled import Standing, repair, standing, turn_off, turn_on
from uniun_bots.personas.gana import Trigger
from uniun_bots.personas.project import Project
from uniun_bots.triggers.timetable import Entry, enter, forget

log = logging.getLogger(__name__)


def bring_up(
    tx: sqlite3.Connection, project: Project, roster: Roster, now: float, catch_up: Collection[str]
) -> tuple[dict[str, Standing], list[Entry]]:
    """Each hosted Gana's standing, and the timetable's entries for those that have one."""
    known = {row[0] for row in tx.execute("SELECT gana FROM ganas WHERE enabled = 1")}
    for gone in known - roster.ganas.keys():
        turn_off(tx, gone)
    repair(tx, now)
    notice_kept(tx, roster.by_key, now - roster.longest_max_age_s(), now)
    standings: dict[str, Standing] = {}
    entries: list[Entry] = []
    for hosted in roster.ganas.values():
        if turn_on(tx, hosted.id, now, catch_up=hosted.id in catch_up):
            forget(tx, hosted.id)
            log.info(
                "turned on: %s starts %s", hosted.id, "where it stopped" if hosted.id in catch_up else "now"
            )
        if hosted.surface:
            begin(tx, hosted.id, hosted.surface)
        standings[hosted.id] = standing(tx, hosted.id)
        spent = standings[hosted.id].spent and hosted.gana.trigger is Trigger.ONCE_ON_ENABLE
        entry = enter(tx, hosted.gana, now, project.settings.timezone)
        if entry and not spent:
            entries.append(entry)
    return standings, entries

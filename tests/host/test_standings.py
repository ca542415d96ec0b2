from __future__ import annotations

import sqlite3
from pathlib import Path

from tests.factory import BOT, GROUP, NOW, event, gana, heard, message
from tests.stores import tx as tx
from uniun_bots.graph.keep import keep
from uniun_bots.graph.retention import prune_notes
from uniun_bots.host.roster import Roster
from uniun_bots.host.standings import bring_up
from uniun_bots.inputs.cursors import own_keys, pending
from uniun_bots.inputs.enabled import Standing, standing
from uniun_bots.personas.gana import Gana
from uniun_bots.personas.hosted import HostedGana
from uniun_bots.personas.project import Project
from uniun_bots.personas.settings import HostSettings
from uniun_bots.triggers.timetable import Entry

DAY = 86_400
HARBOUR = gana()
TIDE = gana("tide", trigger="on-schedule", every="1h", input=None, output={"type": "feed"})


def start(
    tx: sqlite3.Connection, *ganas: Gana, now: float = NOW, catch_up: tuple[str, ...] = ()
) -> tuple[dict[str, Standing], list[Entry]]:
    hosted = {one.id: HostedGana(one, BOT, one.input_surface(BOT), (), ()) for one in ganas}
    project = Project(Path(), HostSettings(), ganas, {})
    return bring_up(tx, project, Roster(hosted, {}, {}), now, catch_up)


def waiting(tx: sqlite3.Connection) -> list[str]:
    return [note.text for note in pending(tx, HARBOUR.id, GROUP, own_keys([BOT]))]


def test_a_start_turns_on_what_is_new_and_leaves_the_rest_as_it_stands(tx: sqlite3.Connection) -> None:
    start(tx, HARBOUR)
    keep(tx, heard(message("while it was away")))
    standings, entries = start(tx, HARBOUR, TIDE, now=NOW + 900)
    assert (standings[HARBOUR.id].enabled_at, standings[TIDE.id].enabled_at) == (NOW, NOW + 900)
    assert entries == [Entry(TIDE.id, NOW + 900 + 3600)]
    assert waiting(tx) == ["while it was away"]


def test_a_gana_that_left_the_folder_is_off_and_starts_anew_when_it_is_back(tx: sqlite3.Connection) -> None:
    start(tx, HARBOUR, TIDE)
    start(tx, TIDE)
    assert not standing(tx, HARBOUR.id).enabled
    keep(tx, heard(message("while it was gone")))
    start(tx, HARBOUR, TIDE, now=NOW + 900)
    assert waiting(tx) == []


def test_what_waits_for_a_gana_outlives_the_time_that_notes_are_kept(tx: sqlite3.Connection) -> None:
    """Before its first decision too: it was paused, or had no model."""
    start(tx, HARBOUR)
    keep(tx, heard(message("waits"), event("nobody waits for it")))
    assert prune_notes(tx, NOW + DAY) == 1
    assert waiting(tx) == ["waits"]


def test_a_start_that_was_noted_by_a_clock_ahead_is_put_right(tx: sqlite3.Connection) -> None:
    start(tx, HARBOUR, now=NOW + 3600)
    standings, _ = start(tx, HARBOUR, now=NOW)
    assert standings[HARBOUR.id].enabled_at == NOW


def test_a_once_trigger_that_is_spent_has_no_entry(tx: sqlite3.Connection) -> None:
    once = gana("once", trigger="once-on-enable", input=None, output={"type": "feed"})
    assert start(tx, once)[1] == [Entry("once", NOW)]
    tx.execute("UPDATE ganas SET spent = 1")
    assert start(tx, once)[1] == []

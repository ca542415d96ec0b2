from __future__ import annotations

import sqlite3

from tests.factory import BOT, MENTIONS, NOW, hosted_on_mentions, mention
from tests.inputs.scene import Scene
from tests.stores import count
from uniun_bots.graph.retention import prune_notes
from uniun_bots.inputs.prune import KEEP_S, prune_decided

DAY = 86_400.0


def decided(tx: sqlite3.Connection) -> tuple[int, int]:
    return count(tx, "answered"), count(tx, "held")


def one_of_each(tx: sqlite3.Connection) -> Scene:
    """A short note stands on two surfaces, of which the Gana watches one."""
    scene = Scene(tx, hosted_on_mentions())
    scene.hear(mention("hello"), mention("#nobot"))
    scene.close(scene.take())
    scene.look()
    assert decided(tx) == (1, 1)
    return scene


def test_decisions_go_after_ninety_days(tx: sqlite3.Connection) -> None:
    one_of_each(tx)
    assert prune_decided(tx, NOW + KEEP_S, 0) == 0
    assert prune_decided(tx, NOW + KEEP_S + 1, 0) == 2
    assert decided(tx) == (0, 0)


def test_what_is_pruned_is_not_pending_again(tx: sqlite3.Connection) -> None:
    scene = one_of_each(tx)
    prune_decided(tx, NOW + KEEP_S + 1, 0)
    assert scene.pending() == []
    prune_notes(tx, NOW + KEEP_S + 1)
    assert scene.pending() == []


def test_decisions_stay_as_long_as_an_input_may_be_old(tx: sqlite3.Connection) -> None:
    one_of_each(tx)
    assert prune_decided(tx, NOW + 200 * DAY, 365 * DAY) == 0
    assert prune_decided(tx, NOW + 365 * DAY + 1, 365 * DAY) == 2


def test_a_decision_that_the_cursor_has_not_passed_stays(tx: sqlite3.Connection) -> None:
    scene = Scene(tx, hosted_on_mentions())
    scene.hear(mention("fails"))
    failing = scene.take()
    scene.hear(mention("answered", author=BOT[::-1]))
    scene.close(scene.take())
    assert prune_decided(tx, NOW + KEEP_S + 1, 0) == 0, "it would be pending again"
    scene.close(failing, "dead")
    assert prune_decided(tx, NOW + KEEP_S + 1, 0) == 2


def test_the_cursor_of_another_gana_keeps_no_decision(tx: sqlite3.Connection) -> None:
    one_of_each(tx)
    tx.execute("INSERT INTO cursors (gana, surface, seq) VALUES ('tide', ?, 1)", (MENTIONS,))
    assert prune_decided(tx, NOW + KEEP_S + 1, 0) == 2


def test_decisions_about_timers_and_unknown_notes_go_by_age_alone(tx: sqlite3.Connection) -> None:
    for key, at in (("due:1", NOW), ("ab" * 32, NOW), ("due:2", NOW + DAY)):
        tx.execute("INSERT INTO answered VALUES ('harbour-master', ?, 1, 'silent', '', '', '', ?)", (key, at))
    assert prune_decided(tx, NOW + KEEP_S + 1, 0) == 2
    assert [row[0] for row in tx.execute("SELECT key FROM answered")] == ["due:2"]

"""A reply that another data folder made names one note and may have answered several."""

from __future__ import annotations

import json
import sqlite3

import pytest

from tests.factory import ALICE, BOB, BOT, NOW, event, gana, heard, hosted, message
from tests.inputs.scene import Scene
from uniun_bots.graph.keep import keep
from uniun_bots.inputs.elsewhere import notice_elsewhere
from uniun_bots.nostr.event import Event


@pytest.fixture
def scene(tx: sqlite3.Connection) -> Scene:
    return Scene(tx)


def reply(scene: Scene, answered: Event) -> None:
    """By our key, from elsewhere."""
    ours = message("High water at noon.", answers=answered, author=BOT, at=NOW + 60)
    kept = keep(scene.tx, heard(ours, at=scene.now))
    notice_elsewhere(scene.tx, kept.new, {BOT: (scene.gana,)}, scene.now)


def test_what_went_before_in_the_same_turn_is_not_answered_again(scene: Scene) -> None:
    first, last = message("When is"), message("high water?", at=NOW + 1)
    scene.hear(first, last)
    reply(scene, last)
    assert scene.texts() == []
    assert scene.held() == {"When is": "identity"}
    assert scene.pending() == []


def test_it_does_not_matter_what_is_heard_first(scene: Scene) -> None:
    first, last = message("When is"), message("high water?", at=NOW + 1)
    reply(scene, last)
    scene.hear(last, first)
    assert scene.texts() == []


def test_what_came_later_is_answered(scene: Scene) -> None:
    asked, later = message("When is high water?"), message("And low?", at=NOW + 1)
    scene.hear(asked, later)
    reply(scene, asked)
    assert scene.texts() == ["And low?"]


def test_other_people_and_other_threads_are_answered(scene: Scene) -> None:
    opening = message("A thread.", author=BOB)
    aside = message("And the moon?", answers=opening)
    asked = message("When is high water?", at=NOW + 1)
    scene.hear(opening, aside, asked)
    reply(scene, asked)
    assert [scene.texts(), scene.texts()] == [["A thread."], ["And the moon?"]]


def test_a_digest_covers_everybody_before_it(tx: sqlite3.Connection) -> None:
    digest = gana(input={"type": "group", "ref": json.loads(message().raw)["tags"][0][1], "batch": "all"})
    scene = Scene(tx, hosted(digest))
    one, two = message("High.", author=BOB), message("Low.", author=ALICE, at=NOW + 1)
    later = message("And now?", author=BOB, at=NOW + 2)
    scene.hear(one, two, later)
    reply(scene, two)
    assert scene.texts() == ["And now?"]


def test_a_reply_on_another_surface_covers_nothing_here(scene: Scene) -> None:
    asked, elsewhere = message("When is high water?"), event("When?", at=NOW + 1)
    scene.hear(asked, elsewhere)
    reply(scene, elsewhere)
    assert scene.texts() == ["When is high water?"]

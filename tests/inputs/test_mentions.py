from __future__ import annotations

import sqlite3

from tests.factory import (
    ALICE,
    BOB,
    BOT,
    CAROL,
    NOW,
    hosted_on_mentions,
    mention,
    message,
)
from tests.inputs.scene import Scene
from uniun_bots.nostr.bech32 import encode
from uniun_bots.nostr.event import Event

NPUB = encode("npub", bytes.fromhex(BOT))


def on_mentions(tx: sqlite3.Connection, *before: Event) -> Scene:
    scene = Scene(tx, hosted_on_mentions(), own=(BOT,))
    scene.hear(*before)
    while scene.pending():
        taken = scene.look()
        if taken.turn:
            scene.close(taken.turn)
    return scene


def test_a_mention_of_its_own_is_meant(tx: sqlite3.Connection) -> None:
    scene = on_mentions(tx)
    scene.hear(mention("when?"))
    assert scene.texts() == ["when?"]


def test_an_answer_to_us_is_meant(tx: sqlite3.Connection) -> None:
    ours = mention("at nine", author=BOT)
    scene = on_mentions(tx, mention("when?"), ours)
    scene.hear(mention("thanks, and back?", answers=ours))
    assert scene.texts() == ["thanks, and back?"]


def test_naming_us_in_the_text_is_meant_wherever_it_stands(tx: sqlite3.Connection) -> None:
    asked = mention("when?", author=BOB)
    scene = on_mentions(tx, asked)
    scene.hear(mention(f"let nostr:{NPUB} say it", answers=asked))
    assert len(scene.texts()) == 1


def test_a_tag_that_the_parent_did_not_have_is_meant(tx: sqlite3.Connection) -> None:
    scene = on_mentions(tx)
    parent = message("when?", author=BOB)
    scene.hear(parent)
    scene.hear(mention("the bot may know", answers=parent))
    assert scene.texts() == ["the bot may know"]


def test_a_tag_that_was_copied_along_is_not_meant(tx: sqlite3.Connection) -> None:
    asked = mention("when?", author=BOB)
    scene = on_mentions(tx, asked)
    scene.hear(mention("I wonder too", answers=asked, author=CAROL))
    assert scene.texts() == []
    assert scene.held() == {"I wonder too": "input.type mentions"}


def test_a_missing_parent_is_looked_for_once_and_then_the_mention_counts(tx: sqlite3.Connection) -> None:
    scene = on_mentions(tx)
    missing = message("when?", author=BOB)
    scene.hear(mention("well?", answers=missing))
    needs = scene.look().needs
    assert needs is not None
    assert needs.notes == (missing.id,)
    turn = scene.look(looked_for=needs.notes).turn
    assert turn is not None


def test_what_lies_above_a_known_parent_is_not_looked_for(tx: sqlite3.Connection) -> None:
    scene = on_mentions(tx)
    parent = message("when?", answers=message("not here"), author=BOB)
    scene.hear(parent)
    scene.hear(mention("the bot may know", answers=parent))
    assert scene.texts() == ["the bot may know"]


def test_what_a_found_parent_says_decides(tx: sqlite3.Connection) -> None:
    scene = on_mentions(tx)
    parent = mention("when?", author=BOB, at=NOW - 500)
    scene.hear(mention("well?", answers=parent))
    needs = scene.look().needs
    assert needs is not None
    assert needs.notes == (parent.id,)
    scene.hear(parent)
    assert scene.texts() == []
    assert scene.held()["well?"] == "input.type mentions"


def test_authors_nobody_looked_up_are_asked_for_together_before_anything_is_judged(
    tx: sqlite3.Connection,
) -> None:
    scene = Scene(tx)
    scene.hear(message("a"), message("b", author=BOB), message("c", author=CAROL, at=NOW - 9000), known=False)
    needs = scene.look().needs
    assert needs is not None
    assert needs.profiles == tuple(sorted((ALICE, BOB, CAROL)))
    assert scene.pending() == ["a", "b", "c"]

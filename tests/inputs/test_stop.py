from __future__ import annotations

import sqlite3

import pytest

from tests.factory import (
    BOB,
    BOT,
    gana,
    hosted,
    hosted_on_mentions,
    mention,
    message,
)
from tests.inputs.scene import Scene
from uniun_bots.nostr.bech32 import encode
from uniun_bots.nostr.event import Event

NPUB = encode("npub", bytes.fromhex(BOT))
BOBS_NPUB = encode("npub", bytes.fromhex(BOB))


def answered_by_us(scene: Scene) -> Event:
    question, ours = message("when?"), message("at nine", author=BOT)
    scene.hear(question, ours)
    scene.close(scene.take())
    return ours


@pytest.mark.parametrize("text", ["stop", "STOP!", " Stop. ", f"nostr:{NPUB} stop", f"stop, nostr:{NPUB}"])
def test_stop_mutes_its_author_for_good(tx: sqlite3.Connection, text: str) -> None:
    scene = Scene(tx)
    scene.hear(message(text, answers=answered_by_us(scene)))
    assert [one.setting for one in scene.look().held] == ["stop"]
    scene.now += 9 * 86_400
    scene.hear(message("hello again", at=int(scene.now)), message("hi", author=BOB, at=int(scene.now)))
    assert scene.texts() == ["hi"]
    assert scene.held()["hello again"] == "mutes"


def test_stop_holds_what_its_author_said_after_it_in_the_same_batch(tx: sqlite3.Connection) -> None:
    scene = Scene(tx)
    ours = answered_by_us(scene)
    scene.hear(message("stop", answers=ours), message("hello?"), message("hi", author=BOB))
    assert scene.texts() == ["hi"]


def test_stop_by_naming_us_needs_no_answer(tx: sqlite3.Connection) -> None:
    scene = Scene(tx)
    scene.hear(message(f"nostr:{NPUB} stop"))
    assert [one.setting for one in scene.look().held] == ["stop"]


@pytest.mark.parametrize(
    "text", ["please stop that", "stop the ferry!", "don't stop", f"nostr:{BOBS_NPUB} stop"]
)
def test_stop_among_other_words_is_an_ordinary_message(tx: sqlite3.Connection, text: str) -> None:
    scene = Scene(tx)
    scene.hear(message(text, answers=answered_by_us(scene)))
    assert scene.texts() == [text]


def test_stop_to_somebody_else_in_the_group_mutes_nobody(tx: sqlite3.Connection) -> None:
    scene = Scene(tx)
    joke = message("a joke", author=BOB)
    scene.hear(joke, message("stop", answers=joke))
    scene.look()
    scene.look()
    assert tx.execute("SELECT count(*) FROM mutes").fetchone()[0] == 0


def test_stop_to_somebody_else_with_our_tag_copied_along_mutes_nobody(tx: sqlite3.Connection) -> None:
    scene = Scene(tx, hosted_on_mentions())
    joke = mention("a joke for the bot", author=BOB)
    scene.hear(joke, mention("stop", answers=joke))
    scene.close(scene.take())
    assert [one.setting for one in scene.look().held] == ["input.type mentions"]
    assert tx.execute("SELECT count(*) FROM mutes").fetchone()[0] == 0


def test_a_mention_that_says_stop_mutes(tx: sqlite3.Connection) -> None:
    scene = Scene(tx, hosted_on_mentions())
    scene.hear(mention("stop"))
    assert [one.setting for one in scene.look().held] == ["stop"]


def test_a_mute_is_one_ganas_own(tx: sqlite3.Connection) -> None:
    harbour, tide = Scene(tx), Scene(tx, hosted(gana("tide")))
    harbour.hear(message(f"nostr:{NPUB} stop"))
    harbour.look()
    harbour.hear(message("hello"))
    muted_by = [row[0] for row in tx.execute("SELECT gana FROM mutes")]
    assert muted_by == ["harbour-master"]
    assert harbour.texts() == []
    tx.execute("DELETE FROM mutes")
    assert tide.look().turn is None, "said to this identity, it counts for each Gana that hears it"

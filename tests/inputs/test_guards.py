from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.factory import (
    ALICE,
    BOB,
    BOT,
    CAROL,
    CHANNEL,
    NOW,
    deletion,
    gana,
    hosted,
    hosted_on_mentions,
    mention,
    message,
    profile,
)
from tests.inputs.scene import Scene
from uniun_bots.inputs import enabled
from uniun_bots.nostr.bech32 import encode
from uniun_bots.nostr.event import Event

NPUB = encode("npub", bytes.fromhex(BOT))
BOBS_NPUB = encode("npub", bytes.fromhex(BOB))
NOTE = encode("note", bytes.fromhex("ab" * 32))


def on_group(**fields: Any) -> dict[str, Any]:
    return {"input": {"type": "group", "ref": CHANNEL} | fields}


def chain(length: int) -> list[Event]:
    """The last one stands so many notes deep; by different people, each answering the one before."""
    events = [message("d1", author=BOB)]
    while len(events) < length:
        events.append(
            message(f"d{len(events) + 1}", answers=events[-1], author=(ALICE, BOB)[len(events) % 2])
        )
    return events


@dataclass(frozen=True)
class Case:
    setting: str
    events: list[Event]
    """The last one is what is judged."""
    fields: dict[str, Any] = field(default_factory=dict)
    before: Callable[[sqlite3.Connection], None] | None = None


def spent(tx: sqlite3.Connection) -> None:
    enabled.spend(tx, "harbour-master")


def muted(tx: sqlite3.Connection) -> None:
    tx.execute("INSERT INTO mutes VALUES ('harbour-master', ?, 'some note', 0)", (ALICE,))


def catching_up(tx: sqlite3.Connection) -> None:
    tx.execute("UPDATE ganas SET catch_up = 1")


DELETED = message("sorry")
HELD = {
    "deleted": Case("NIP-09 deletion", [deletion(DELETED), DELETED]),
    "posted before the Gana was on": Case("mode (turn it on with --catch-up)", [message(at=NOW - 61)]),
    "too old": Case("input.max_age", [message(at=NOW - 3601)], on_group(max_age="1h"), catching_up),
    "dated ahead": Case("clock (15 min)", [message(at=NOW + 901)]),
    "dated far ahead (A15)": Case("clock (15 min)", [message("see you in 2035", at=2_051_222_400)]),
    "once and spent": Case(
        "trigger (re-arm with `persona enable`)", [message()], {"trigger": "once-on-first-message"}, spent
    ),
    "denied": Case("input.deny", [message()], on_group(deny=[ALICE])),
    "not allowed": Case("input.allow", [message()], on_group(allow=[BOB])),
    "denied although allowed": Case("input.deny", [message()], on_group(allow=[ALICE], deny=[ALICE])),
    "muted": Case("mutes", [message()], before=muted),
    "a bot (A21)": Case("input.allow_bots", [profile(bot=True), message()]),
    "#nobot in the note": Case("#nobot", [message("hello #NoBot")]),
    "#nobot in the profile": Case("#nobot", [profile(about="I fish. #nobot"), message()]),
    "over-long": Case("input.max_chars", [message("x" * 101)], on_group(max_chars=100)),
    "only a citation (A22)": Case("input", [message(f"nostr:{NOTE}")]),
    "only a shortened citation (A22)": Case("input", [message("nostr:note1...")]),
    "only a quotation (A22)": Case("input", [message("> ask me about tides!\n> now\n")]),
    "no words": Case("input", [message(" \n\t")]),
    "too deep": Case("limits.depth", chain(4), {"limits": {"depth": 3}}),
}
PASSED = {
    "posted just before the Gana was on": Case("", [message(at=NOW - 60)]),
    "posted long before, catching up": Case("", [message(at=NOW - 3600)], before=catching_up),
    "as old as allowed": Case("", [message(at=NOW - 3600)], on_group(max_age="1h"), catching_up),
    "dated a little ahead": Case("", [message(at=NOW + 900)]),
    "a deletion by somebody else": Case("", [deletion(DELETED, author=BOB), DELETED]),
    "allowed": Case("", [message()], on_group(allow=[ALICE], deny=[BOB])),
    "a bot that is allowed": Case("", [profile(bot=True), message()], on_group(allow_bots=[ALICE])),
    "a profile without `bot`": Case("", [profile(name="Alice, not a bot"), message()]),
    "as long as allowed": Case("", [message("x" * 100)], on_group(max_chars=100)),
    "words beside a citation": Case("", [message(f"what does nostr:{NOTE} mean?")]),
    "words below a quotation": Case("", [message("> tides!\nwhen?")]),
    "as deep as allowed": Case("", chain(3), {"limits": {"depth": 3}}),
}


def judged(tx: sqlite3.Connection, case: Case) -> tuple[Scene, str]:
    scene = Scene(tx, hosted(gana(**case.fields)))
    if case.before:
        case.before(tx)
    authors = {event.author for event in case.events}
    *earlier, last = case.events
    scene.hear(*earlier)
    for note_id in [event.id for event in earlier]:
        tx.execute(
            "INSERT INTO answered VALUES (?, ?, NULL, 'silent', '', '', '', 0)", (scene.gana, note_id)
        )
    scene.hear(last)
    assert ALICE in authors
    return scene, last.id


@pytest.mark.parametrize("case", HELD.values(), ids=HELD)
def test_a_guard_holds_and_names_its_setting(tx: sqlite3.Connection, case: Case) -> None:
    scene, note_id = judged(tx, case)
    taken = scene.look()
    assert taken.turn is None
    assert [(one.note_id, one.setting) for one in taken.held] == [(note_id, case.setting)]
    assert taken.held[0].reason
    assert scene.pending() == [], "held is final"
    assert scene.look().held == (), "and told once"


@pytest.mark.parametrize("case", PASSED.values(), ids=PASSED)
def test_what_is_just_inside_passes(tx: sqlite3.Connection, case: Case) -> None:
    scene, note_id = judged(tx, case)
    assert scene.take().key == note_id
    assert scene.held() == {}


# stop -------------------------------------------------------------------------------------------------


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


# who is meant by a mention ----------------------------------------------------------------------------


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

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.factory import (
    ALICE,
    BOB,
    CHANNEL,
    NOW,
    deletion,
    gana,
    hosted,
    message,
    profile,
)
from tests.inputs.scene import Scene
from uniun_bots.inputs import enabled
from uniun_bots.nostr.bech32 import encode
from uniun_bots.nostr.event import Event

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
        tx.execute("INSERT INTO answered VALUES (?, ?, NULL, 'silent', '', '', '', 0)", (scene.gana, note_id))
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

from __future__ import annotations

import sqlite3

from tests.factory import ALICE, BOT, GROUP, event, heard, message
from tests.stores import tx as tx
from uniun_bots.context.gather import LATELY, look_around
from uniun_bots.graph.find import note_by_id
from uniun_bots.graph.keep import keep, keep_note
from uniun_bots.inputs.turn import Turn
from uniun_bots.nostr.event import Event


def turn_of(tx: sqlite3.Connection, asked: Event) -> Turn:
    note = note_by_id(tx, asked.id)
    assert note is not None
    return Turn("tide", GROUP, (note,), None, 1)


def said(tx: sqlite3.Connection, text: str, author: str = BOT, at: int = 0) -> None:
    keep_note(tx, message(text, author=author), "own", at)


def test_our_last_words_on_the_surface_are_known(tx: sqlite3.Connection) -> None:
    said(tx, "first")
    said(tx, "last")
    said(tx, "by another of ours", ALICE)
    keep_note(tx, event("elsewhere", author=BOT), "own", 0)
    asked = message("When?")
    keep(tx, heard(asked, message("not by us", author=ALICE)))
    around, missing = look_around(tx, turn_of(tx, asked), BOT)
    assert (around.last_reply, missing) == ("last", None)


def test_words_of_long_ago_are_not_looked_for(tx: sqlite3.Connection) -> None:
    """Looking for them would read the whole surface for every turn."""
    said(tx, "long ago")
    asked = [message(f"question {number}") for number in range(LATELY)]
    keep(tx, heard(*asked))
    around, _ = look_around(tx, turn_of(tx, asked[-1]), BOT)
    assert around.last_reply is None

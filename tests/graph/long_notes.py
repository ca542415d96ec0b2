"""Notes that are long enough to get a memory, and summaries of them."""

from __future__ import annotations

import sqlite3

from tests.factory import ALICE, NOW, event, heard
from uniun_bots.graph.find import note_by_id
from uniun_bots.graph.keep import keep
from uniun_bots.graph.note import Note

TIDES = (
    "High water comes to our harbour about fifty minutes later every day, because the moon moves on while the earth "
    "turns below it. Whoever wants to cross the bar should look at the tables of the harbour office, add half an hour "
    "when the wind blows from the west, and never sail on the last of the ebb, which runs at 4 knots there."
)
BREAD = (
    "For a good loaf of bread the dough has to rest over night in a cold kitchen. Take 500 grams of flour, a little "
    "yeast, salt and water, knead it for ten minutes, and leave it alone until the morning. Bake it in a hot pot with "
    "the lid on, and take the lid off for the last quarter of an hour so that the crust becomes brown."
)
OF_TIDES = "High water comes about fifty minutes later every day."
OF_BREAD = "Bread dough should rest over night before it is baked in a hot pot."


def kept(tx: sqlite3.Connection, text: str, author: str = ALICE, at: int = NOW) -> Note:
    said = event(text, author=author, at=at)
    keep(tx, heard(said))
    found = note_by_id(tx, said.id)
    assert found is not None
    return found

from __future__ import annotations

import sqlite3

from tests.factory import deletion, event, heard
from uniun_bots.graph.citable import citable
from uniun_bots.graph.keep import keep

OURS, THEIRS = "dm:a:b", "dm:a:c"


def test_only_what_somebody_can_open_may_be_named(tx: sqlite3.Connection) -> None:
    notes = {text: event(text) for text in ("public", "gone", "draft", "pruned", "ours", "theirs")}
    keep(tx, heard(*notes.values()))
    keep(tx, heard(deletion(notes["gone"])))
    for text, change in (
        ("draft", "origin = 'draft'"),
        ("pruned", "raw = NULL, text = ''"),
        ("ours", f"audience = '{OURS}', raw = NULL"),
        ("theirs", f"audience = '{THEIRS}', raw = NULL"),
    ):
        tx.execute(f"UPDATE notes SET {change} WHERE id = ?", (notes[text].id,))  # noqa: S608
    ids = {one.id: text for text, one in notes.items()}

    def named(audience: str | None) -> set[str]:
        return {ids[note_id] for note_id in citable(tx, [*ids, "f" * 64], audience)}

    assert named(None) == {"public"}
    assert named(OURS) == {"public", "ours"}
    assert citable(tx, [], None) == set()

from __future__ import annotations

import sqlite3
from dataclasses import replace

from tests.factory import ALICE, BOB, NOW, event, gana, heard, hosted
from tests.stores import count
from uniun_bots.graph.bring_manas import bring_manas
from uniun_bots.graph.citable import citable
from uniun_bots.graph.drafts import Changes, sync_drafts
from uniun_bots.graph.dump import signed_events
from uniun_bots.graph.find import note_by_id
from uniun_bots.graph.keep import keep, mark_deleted
from uniun_bots.graph.manas import Rule, set_manas
from uniun_bots.graph.scope import Scope, from_where, scope_of
from uniun_bots.nostr.reference import spell_note
from uniun_bots.personas.draft_file import DraftFile, draft_id
from uniun_bots.personas.draft_files import DraftFiles
from uniun_bots.personas.manas import Manas, Named

PARENT = event("the parent")


def draft(path: str = "a.md", text: str = "Wait for the tide.", *topics: str, digest: str = "") -> DraftFile:
    return DraftFile(path, text, NOW, topics, digest or text)


def texts(tx: sqlite3.Connection, scope: Scope) -> set[str]:
    source, given = from_where(scope)
    return {row[0] for row in tx.execute(f"SELECT n.text {source}", given)}


def found_by(tx: sqlite3.Connection, word: str) -> int:
    return int(tx.execute("SELECT count(*) FROM notes_text WHERE notes_text MATCH ?", (word,)).fetchone()[0])


def intact(tx: sqlite3.Connection) -> bool:
    tx.execute("INSERT INTO notes_text (notes_text) VALUES ('integrity-check')")
    return count(tx, "notes_text") == count(tx, "notes")


def test_a_file_becomes_a_note_with_everything_a_note_has(tx: sqlite3.Connection) -> None:
    text = f"Wait for the tide, as nostr:{spell_note(PARENT.id)} says."
    assert sync_drafts(tx, [draft("l/a.md", text, "tide")], NOW) == Changes(new=1)
    note = note_by_id(tx, draft_id("l/a.md"))
    assert note is not None
    assert (note.text, note.origin, note.author, note.created_at, note.deleted) == (
        text,
        "draft",
        "",
        NOW,
        False,
    )
    assert [tuple(row) for row in tx.execute("SELECT kind, target FROM edges")] == [("mention", PARENT.id)]
    assert [row[0] for row in tx.execute("SELECT topic FROM topics")] == ["tide"]
    assert found_by(tx, "tide") == 1
    assert count(tx, "surfaces") == 0, "no Gana is ever woken by a file"


def test_a_file_that_did_not_change_changes_nothing(tx: sqlite3.Connection) -> None:
    sync_drafts(tx, [draft()], NOW)
    assert not sync_drafts(tx, [draft()], NOW + 1)
    assert tx.execute("SELECT seq, heard_at FROM notes").fetchall()[0][:] == (1, NOW)


def test_a_changed_file_is_the_same_note_with_another_text_and_nothing_left_of_the_old(
    tx: sqlite3.Connection,
) -> None:
    sync_drafts(tx, [draft("a.md", "昨日、東京へ", "old"), draft("b.md")], NOW)
    assert sync_drafts(tx, [draft("a.md", "Ebb and flood", "new"), draft("b.md")], NOW) == Changes(changed=1)
    note = note_by_id(tx, draft_id("a.md"))
    assert note is not None
    assert (note.text, note.seq) == ("Ebb and flood", 3), (
        "a new number: nothing computed from the old text fits"
    )
    assert (found_by(tx, "東京"), found_by(tx, "flood"), count(tx, "notes")) == (0, 1, 2)
    assert [row[0] for row in tx.execute("SELECT topic FROM topics")] == ["new"]
    assert intact(tx)


def test_a_file_that_goes_takes_its_note_along_and_may_come_back(tx: sqlite3.Connection) -> None:
    sync_drafts(tx, [draft("a.md", "x", "t"), draft("b.md")], NOW)
    assert sync_drafts(tx, [draft("b.md")], NOW) == Changes(gone=1)
    assert note_by_id(tx, draft_id("a.md")) is None
    assert [count(tx, table) for table in ("notes", "topics", "drafts")] == [1, 0, 1]
    assert intact(tx)
    assert sync_drafts(tx, [draft("a.md", "x"), draft("b.md")], NOW) == Changes(new=1)


def files(*drafts: DraftFile, **members: tuple[str, ...]) -> DraftFiles:
    ids = {name: tuple(map(draft_id, paths)) for name, paths in members.items()}
    return DraftFiles(drafts, ids, dict.fromkeys(members, ()), ())


def test_rows_follow_the_files_of_all_manas(tx: sqlite3.Connection) -> None:
    manas = [
        Manas(name="tides", file="", topics=("tide",), description="Tides"),
        Manas(name="people", file="", authors=(BOB,), exclude=Named(topics=("tide",))),
    ]
    both = files(draft("a.md", "a", "tide"), draft("b.md", "b"), tides=(), people=("a.md", "b.md"))
    keep(tx, heard(event("by bob", author=BOB), event("wet", ["t", "tide"], author=BOB)))
    changes, changed = bring_manas(tx, manas, both, NOW)
    assert (changes, changed) == (Changes(new=2), ["tides", "people"])
    assert texts(tx, Scope(manas=("tides",))) == {"a", "wet"}
    assert texts(tx, Scope(manas=("people",))) == {"b", "by bob"}
    assert bring_manas(tx, manas, both, NOW) == (Changes(), [])
    changes, changed = bring_manas(tx, manas[:1], files(tides=()), NOW)
    assert (changes, changed, texts(tx, Scope(drafts=True))) == (Changes(gone=2), [], set())
    assert texts(tx, Scope(manas=("people",))) == set()


def test_a_changed_draft_stays_a_member(tx: sqlite3.Connection) -> None:
    set_manas(tx, "life", "", [Rule("note", draft_id("a.md"))])
    sync_drafts(tx, [draft("a.md", "old")], NOW)
    sync_drafts(tx, [draft("a.md", "new")], NOW)
    assert texts(tx, Scope(manas=("life",))) == {"new"}


def test_two_files_that_exchange_their_texts_do_so(tx: sqlite3.Connection) -> None:
    one, two = draft("a.md", "one"), draft("b.md", "two")
    sync_drafts(tx, [one, two], NOW)
    sync_drafts(tx, [replace(one, text="two", digest="two"), replace(two, text="one", digest="one")], NOW)
    rows = tx.execute("SELECT path, text FROM drafts JOIN notes USING (id) ORDER BY path")
    assert [tuple(row) for row in rows] == [("a.md", "two"), ("b.md", "one")]


def test_a_draft_is_never_signed_never_exported_and_never_tagged(tx: sqlite3.Connection) -> None:
    sync_drafts(tx, [draft()], NOW)
    public, private, gone = event("public"), event("private"), event("gone")
    keep(tx, heard(public, private, gone))
    mark_deleted(tx, gone.id)
    tx.execute("UPDATE notes SET audience = 'dm:a:b' WHERE id = ?", (private.id,))
    asked = [draft_id("a.md"), private.id, public.id, gone.id, "f" * 64]
    assert citable(tx, asked, None) == {public.id}
    assert [raw for _, raw in signed_events(tx, Scope(everything=True), 0, 10)] == [public.raw]


def test_a_draft_of_a_manas_is_read_by_the_gana_that_has_it_and_by_those_that_have_none(
    tx: sqlite3.Connection,
) -> None:
    bring_manas(
        tx, [Manas(name="life", file="")], files(draft("a.md", "a"), draft("b.md", "b"), life=("a.md",)), NOW
    )
    keep(tx, heard(event("a stranger's", author=ALICE)))
    assert texts(tx, scope_of(hosted(gana(manas=["life"])))) == {"a"}
    assert texts(tx, scope_of(hosted())) == {"a", "b"}

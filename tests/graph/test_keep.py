from __future__ import annotations

import sqlite3
from dataclasses import replace

import pytest

from tests.factory import (
    ALICE,
    BOB,
    BOT,
    CHANNEL,
    GROUP,
    MENTIONS,
    NOW,
    deletion,
    event,
    heard,
    hex_of,
    mention,
    message,
    profile,
)
from tests.stores import count
from uniun_bots.graph.edges import MOST_EDGES
from uniun_bots.graph.find import note_by_id, raw_event
from uniun_bots.graph.keep import keep, keep_note, keep_sightings, mark_deleted
from uniun_bots.graph.words import asked_words
from uniun_bots.nostr.event import Event
from uniun_bots.relays.heard import Sighting

ROOT, PARENT, MENTIONED, QUOTED = map(hex_of, ("root", "parent", "mentioned", "quoted"))
TABLES = ("notes", "edges", "topics", "surfaces", "notes_text", "profiles", "deletions")


def surfaces(tx: sqlite3.Connection, kept: Event) -> set[str]:
    return set(column(tx, "SELECT surface FROM surfaces JOIN notes USING (seq) WHERE id = ?", kept))


def edges(tx: sqlite3.Connection, kept: Event) -> set[tuple[str, str]]:
    rows = tx.execute("SELECT e.kind, target FROM edges e JOIN notes USING (seq) WHERE id = ?", (kept.id,))
    return {tuple(row) for row in rows}


def topics(tx: sqlite3.Connection, kept: Event) -> set[str]:
    return set(column(tx, "SELECT topic FROM topics JOIN notes USING (seq) WHERE id = ?", kept))


def column(tx: sqlite3.Connection, sql: str, kept: Event) -> list[str]:
    return [row[0] for row in tx.execute(sql, (kept.id,))]


def found(tx: sqlite3.Connection, asked: str) -> set[str]:
    """Texts of the notes that full-text search finds."""
    rows = tx.execute(
        "SELECT text FROM notes_text JOIN notes ON seq = notes_text.rowid WHERE notes_text MATCH ?",
        (f'"{asked_words(asked)}"',),
    )
    return {row[0] for row in rows}


def sizes(tx: sqlite3.Connection) -> dict[str, int]:
    return {table: count(tx, table) for table in TABLES}


def deleted(tx: sqlite3.Connection, kept: Event) -> bool:
    note = note_by_id(tx, kept.id)
    assert note is not None
    return note.deleted


# what an event becomes --------------------------------------------------------------------------------


def test_an_event_becomes_a_note(tx: sqlite3.Connection) -> None:
    said = message("when does the ferry go?", answers=message("moin", author=BOB))
    kept = keep(tx, heard(said, at=NOW + 5))
    note = note_by_id(tx, said.id)
    assert kept.new == (said,)
    assert note is not None
    assert (note.author, note.kind, note.created_at, note.text) == (ALICE, 42, NOW, "when does the ferry go?")
    assert (note.origin, note.heard_at, note.root, note.deleted) == ("relay", NOW + 5, CHANNEL, False)
    assert note.parent == message("moin", author=BOB).id
    assert raw_event(tx, said.id) == said.raw


def test_arrival_numbers_grow_in_the_order_of_arrival_whatever_the_dates_say(tx: sqlite3.Connection) -> None:
    events = [event(f"n{i}", at=at) for i, at in enumerate((NOW, NOW - 9000, NOW + 9000, NOW))]
    keep(tx, heard(*events))
    order = [row[0] for row in tx.execute("SELECT id FROM notes ORDER BY seq")]
    assert order == [one.id for one in events]


def test_a_note_has_an_edge_to_all_that_it_names(tx: sqlite3.Connection) -> None:
    said = event(
        "look",
        ["e", ROOT, "", "root"],
        ["e", PARENT, "", "reply"],
        ["e", MENTIONED, "", "mention"],
        ["q", QUOTED],
        ["e", "not an id"],
    )
    keep(tx, heard(said))
    wanted = {("root", ROOT), ("reply", PARENT), ("mention", MENTIONED), ("quote", QUOTED)}
    assert edges(tx, said) == wanted


def test_a_note_stands_on_each_of_its_surfaces_once(tx: sqlite3.Connection) -> None:
    short = event("hi", ["p", BOT], ["p", BOB], ["p", BOT])
    group, article = message("hi"), event("long", ["p", BOT], kind=30023)
    keep(tx, heard(short, group, article))
    assert surfaces(tx, short) == {f"user:{ALICE}", MENTIONS, f"mentions:{BOB}"}
    assert surfaces(tx, group) == {GROUP}
    assert surfaces(tx, article) == set()


def test_topics_are_kept_in_one_spelling(tx: sqlite3.Connection) -> None:
    said = event("hi", ["t", "Harbour"], ["t", "#harbour"], ["t", "TIDE"], ["t", ""])
    keep(tx, heard(said))
    assert topics(tx, said) == {"harbour", "tide"}


@pytest.mark.parametrize("kind", [3, 4, 7, 40, 1059, 10002, 22242])
def test_what_is_no_note_is_not_kept(tx: sqlite3.Connection, kind: int) -> None:
    before = sizes(tx)
    assert keep(tx, heard(event(kind=kind))).new == ()
    assert sizes(tx) == before


def test_a_profile_is_read_and_is_no_note(tx: sqlite3.Connection) -> None:
    assert keep(tx, heard(profile(name="Alice"))).new == ()
    assert (count(tx, "profiles"), count(tx, "notes")) == (1, 0)


# known ids --------------------------------------------------------------------------------------------


def test_a_known_id_changes_nothing_but_its_sightings(tx: sqlite3.Connection) -> None:
    """A19"""
    said = mention("ping", answers=PARENT)
    first = keep(tx, heard(said, relay="wss://one.example"))
    before, note = sizes(tx), note_by_id(tx, said.id)
    second = keep(tx, heard(said, relay="wss://two.example", at=NOW + 9) + heard(said, at=NOW + 9))
    assert (first.new, first.known) == ((said,), 0)
    assert (second.new, second.known) == ((), 2)
    assert (sizes(tx), note_by_id(tx, said.id)) == (before, note)
    assert count(tx, "heard") == 3


def test_the_same_event_twice_in_a_batch_is_one_note(tx: sqlite3.Connection) -> None:
    said = event("ping")
    kept = keep(tx, heard(said, said))
    assert (kept.new, kept.known, count(tx, "notes")) == ((said,), 1, 1)


def test_our_own_note_that_comes_back_from_a_relay_stays_ours(tx: sqlite3.Connection) -> None:
    ours = message("at nine", author=BOT)
    assert keep_note(tx, ours, "own", NOW) is not None
    assert keep(tx, heard(ours)).new == ()
    note = note_by_id(tx, ours.id)
    assert note is not None
    assert note.origin == "own"


def test_a_sighting_keeps_the_first_time_for_each_relay(tx: sqlite3.Connection) -> None:
    said = event("ping")
    keep(tx, heard(said, relay="wss://one.example", at=NOW))
    again = (Sighting(said.id, f"wss://{name}.example", NOW + 7) for name in ("one", "two", "two"))
    keep_sightings(tx, again)
    rows = tx.execute("SELECT relay, at FROM heard WHERE id = ? ORDER BY relay", (said.id,))
    assert [tuple(row) for row in rows] == [("wss://one.example", NOW), ("wss://two.example", NOW + 7)]


# text -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("The Ferry leaves at nine", "ferry"),
        ("Überfahrt nach Föhr", "fohr"),
        ("我们学习历史。", "历史"),
        ("昨日、東京へ行きました", "東京"),
        ("ラーメンを食べた", "ラーメン"),
        ("วันนี้กินข้าวแล้ว", "ข้าว"),
        ("오늘 서울에서 만나요", "서울"),
        ("Паром отходит утром", "паром"),
        ("العبارة تغادر صباحا", "تغادر"),
        ("tide 潮汐 table", "潮汐"),
    ],
)
def test_a_word_is_found_in_every_script(tx: sqlite3.Connection, text: str, asked: str) -> None:
    keep(tx, heard(event(text), event("something else, 別の話")))
    assert found(tx, asked) == {text}


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("half \ud83d", "half \ufffd"),
        ("nul a\x00b", "nul ab"),
        ("\x1b[2J clear", "[2J clear"),
        ("two\nlines\tand a tab", "two\nlines\tand a tab"),
    ],
)
def test_text_is_cleaned_and_the_signed_bytes_are_not(
    tx: sqlite3.Connection, content: str, text: str
) -> None:
    """E06"""
    said = replace(event("x"), content=content, raw=b"signed \x00 bytes")
    keep(tx, heard(said, event("next")))
    assert raw_event(tx, said.id) == b"signed \x00 bytes"
    assert found(tx, text.split()[0]) == {text}
    assert tx.execute("SELECT length(text) FROM notes WHERE id = ?", (said.id,)).fetchone()[0] == len(text)


@pytest.mark.parametrize("name", ["p", "e", "q", "t"])
def test_thousands_of_tags_leave_a_bounded_number_of_rows(tx: sqlite3.Connection, name: str) -> None:
    """A40"""
    said = event("x" * 200_000, *[[name, f"{i:064x}"] for i in range(5000)])
    assert keep(tx, heard(said)).new == (said,)
    assert 1 <= len(surfaces(tx, said)) <= 101
    assert len(edges(tx, said)) <= MOST_EDGES
    assert len(topics(tx, said)) <= 100
    assert raw_event(tx, said.id) == said.raw


def test_a_deletion_of_thousands_is_read_up_to_a_bound(tx: sqlite3.Connection) -> None:
    keep(tx, heard(event("", *[["e", f"{i:064x}"] for i in range(5000)], kind=5)))
    assert count(tx, "deletions") == MOST_EDGES


# deletions --------------------------------------------------------------------------------------------


def test_an_author_deletes_their_note(tx: sqlite3.Connection) -> None:
    said, other = event("sorry"), event("stays")
    keep(tx, heard(said, other))
    kept = keep(tx, heard(deletion(said)))
    assert kept.deleted == (said.id,)
    assert (deleted(tx, said), deleted(tx, other)) == (True, False)


def test_a_deletion_may_come_before_its_note(tx: sqlite3.Connection) -> None:
    said = event("sorry")
    keep(tx, heard(deletion(said)))
    keep(tx, heard(said))
    assert deleted(tx, said)


@pytest.mark.parametrize("first", ["note", "deletion"])
def test_nobody_deletes_the_note_of_another(tx: sqlite3.Connection, first: str) -> None:
    said = event("mine")
    batch = [said, deletion(said, author=BOB)]
    kept = keep(tx, heard(*(batch if first == "note" else reversed(batch))))
    assert kept.deleted == ()
    assert not deleted(tx, said)


def test_a_deletion_by_another_does_not_hide_that_of_the_author(tx: sqlite3.Connection) -> None:
    said = event("sorry")
    keep(tx, heard(deletion(said, author=BOB), deletion(said), said))
    assert deleted(tx, said)


def test_a_deletion_that_comes_again_deletes_nothing_new(tx: sqlite3.Connection) -> None:
    said = event("sorry")
    keep(tx, heard(said, deletion(said)))
    assert keep(tx, heard(deletion(said), deletion(said, at=NOW + 1))).deleted == ()


def test_what_we_retract_is_deleted(tx: sqlite3.Connection) -> None:
    ours = message("a bad joke", author=BOT)
    keep_note(tx, ours, "own", NOW)
    mark_deleted(tx, ours.id)
    assert deleted(tx, ours)


def test_replies_that_are_closed_together_write_their_words_once(tx: sqlite3.Connection) -> None:
    """A statement of many rows between them would make the full text write down each by itself."""
    asked = message("a question")
    keep(tx, heard(asked))
    tx.commit()
    before = _pieces(tx)
    tx.execute("BEGIN")
    for number in range(3):
        keep_note(tx, message(f"answer {number}", answers=asked, author=BOT), "own", NOW)
    tx.commit()
    assert _pieces(tx) == before + 1


def _pieces(tx: sqlite3.Connection) -> int:
    return int(tx.execute("SELECT count(DISTINCT segid) FROM notes_text_idx").fetchone()[0])


# expiration -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("until", [NOW - 1, NOW, 0])
def test_what_has_expired_is_counted_and_not_kept(tx: sqlite3.Connection, until: int) -> None:
    kept = keep(tx, heard(event("gone", ["expiration", str(until)]), event("stays")))
    assert (kept.expired, len(kept.new), count(tx, "notes")) == (1, 1, 1)


@pytest.mark.parametrize("until", [str(NOW + 1), "soon", "-5", "²", "", "1e3", "9" * 400])
def test_what_expires_later_or_never_says_when_is_kept(tx: sqlite3.Connection, until: str) -> None:
    kept = keep(tx, heard(event("stays", ["expiration", until])))
    assert (kept.expired, count(tx, "notes")) == (0, 1)

from __future__ import annotations

import contextlib
import sqlite3

import pytest

from tests.factory import ALICE, BOB, CHANNEL, NOW, event, heard, hex_of
from tests.nostr.samples import SIGNED
from tests.stores import count
from uniun_bots.errors import BadEvent
from uniun_bots.graph.edges import MOST_EDGES, edges_of
from uniun_bots.graph.keep import keep
from uniun_bots.nostr.bech32 import encode
from uniun_bots.nostr.event import Event
from uniun_bots.nostr.read import read_event
from uniun_bots.nostr.reference import spell_note, spell_npub
from uniun_bots.nostr.threads import read_thread

A, B, C, D = map(hex_of, "abcd")
ADDRESS = f"30023:{BOB}:tides"


def naddr(author: str, d: str) -> str:
    records = b"\x00" + bytes([len(d)]) + d.encode() + b"\x02\x20" + bytes.fromhex(author)
    return encode("naddr", records + b"\x03\x04" + (30023).to_bytes(4))


def nevent(note_id: str) -> str:
    return encode("nevent", b"\x00\x20" + bytes.fromhex(note_id))


def edges(one: Event) -> set[tuple[str, str]]:
    return set(edges_of(one, read_thread(one), one.content))


@pytest.mark.parametrize(
    ("tags", "wanted"),
    [
        ([["e", A, "", "root"]], {("root", A), ("reply", A)}),
        ([["e", A, "", "root"], ["e", B, "", "reply"]], {("root", A), ("reply", B)}),
        ([["e", A, "", "root"], ["e", C, "", "mention"]], {("root", A), ("reply", A), ("mention", C)}),
        ([["e", A]], {("root", A), ("reply", A)}),
        ([["e", A], ["e", B]], {("root", A), ("reply", B)}),
        ([["e", A], ["e", B], ["e", C]], {("root", A), ("mention", B), ("reply", C)}),
        ([["q", A, "", BOB]], {("quote", A)}),
        ([["q", ADDRESS]], {("quote", ADDRESS)}),
        ([["a", ADDRESS, ""]], {("mention", ADDRESS)}),
        ([["a", ADDRESS, "", "root"], ["e", A, "", "reply"]], {("root", ADDRESS), ("root", A), ("reply", A)}),
        ([["e", "nonsense"], ["q", ""], ["a", "1"], ["e"]], set()),
    ],
)  # fmt: skip
def test_tags_become_edges(tags: list[list[str]], wanted: set[tuple[str, str]]) -> None:
    """NIP-10 with markers and by position, NIP-18; A26"""
    assert edges(event("hello", *tags)) == wanted


def test_a_message_in_a_channel_hangs_below_it() -> None:
    """A30"""
    said = event("x", ["e", CHANNEL, "", "root"], ["e", A, "", "reply"], kind=42)
    assert edges(said) == {("root", CHANNEL), ("reply", A)}
    assert edges(event("x", ["e", CHANNEL, "", "root"], kind=42)) == {("root", CHANNEL)}


def test_links_in_the_text_are_edges_unless_a_tag_says_more() -> None:
    text = (
        f"see nostr:{spell_note(A)}, {nevent(B)} and nostr:{naddr(BOB, 'tides')} by nostr:{spell_npub(BOB)}"
    )
    assert edges(event(text)) == {("mention", A), ("mention", B), ("mention", ADDRESS)}
    assert edges(event(text, ["q", A], ["a", ADDRESS, "", "root"])) == {
        ("quote", A), ("mention", B), ("root", ADDRESS)
    }  # fmt: skip
    assert edges(event("nostr:note1nonsense nostr:note1")) == set()


def test_a_note_never_points_at_itself() -> None:
    one = event("x")
    assert edges_of(one, read_thread(one), f"nostr:{spell_note(one.id)}") == []


def test_thousands_of_tags_keep_the_thread_and_a_bounded_rest(tx: sqlite3.Connection) -> None:
    """A40"""
    crowd = [[name, hex_of(f"{name}{n}")] for n in range(2500) for name in ("e", "q")]
    said = event("x" * 200_000, ["e", A, "", "root"], ["e", B, "", "reply"], *crowd)
    keep(tx, heard(said))
    rows = [tuple(row) for row in tx.execute("SELECT kind, target FROM edges")]
    assert len(rows) <= MOST_EDGES
    assert {("root", A), ("reply", B)} <= set(rows)


def test_an_edge_to_an_unknown_note_holds_when_the_note_comes(tx: sqlite3.Connection) -> None:
    parent = event("the parent")
    keep(tx, heard(event("a reply", ["e", parent.id, "", "root"], author=BOB)))
    resolved = "SELECT n.text FROM edges e JOIN notes n ON n.id = e.target WHERE e.kind = 'reply'"
    assert tx.execute(resolved).fetchall() == []
    keep(tx, heard(parent))
    assert [row[0] for row in tx.execute(resolved)] == ["the parent"]


@pytest.mark.parametrize("text", ["nul a\x00b", "\x1b[2J clear", "half \ud83d"])
def test_text_that_breaks_others_is_kept_without_what_breaks(tx: sqlite3.Connection, text: str) -> None:
    """E06"""
    given = event(text.encode("utf-8", "replace").decode())
    said = Event(given.id, ALICE, NOW, 1, (("t", f"to{text}pic"),), text, given.raw)
    keep(tx, heard(said))
    (row,) = tx.execute("SELECT text, length(text) AS length FROM notes").fetchall()
    assert row["length"] == len(row["text"]) == len(text) - text.count("\x00") - text.count("\x1b")
    (topic,) = tx.execute("SELECT topic FROM topics").fetchone()
    assert not {"\x00", "\x1b", "\ud83d"} & {*row["text"], *topic}


def test_every_signed_sample_that_can_be_read_can_be_kept(tx: sqlite3.Connection) -> None:
    kept = 0
    for text in SIGNED.values():
        with contextlib.suppress(BadEvent):
            kept += len(keep(tx, heard(read_event(text))).new)
    assert kept == count(tx, "notes") > 5

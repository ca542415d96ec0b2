from __future__ import annotations

import io
import json
import sqlite3

import pytest

from tests.factory import ALICE, BOB, NOW, event, heard, message
from tests.nostr.samples import SIGNED
from uniun_bots.graph.dump import TAIL_BYTES, BadLine, Place, read_piece, signed_events, tail_of
from uniun_bots.graph.keep import keep, keep_note, mark_deleted
from uniun_bots.graph.manas import Rule, set_manas
from uniun_bots.graph.scope import Scope
from uniun_bots.nostr.read import SIZE_CAP_BYTES

GOOD = event("good").raw
ALL = Scope(everything=True)


def lines(*raw: bytes) -> io.BytesIO:
    return io.BytesIO(b"\n".join(raw))


def read_all(opened: io.BytesIO, at_once: int = 500) -> tuple[list[int], list[BadLine], Place]:
    numbers: list[int] = []
    bad: list[BadLine] = []
    at = Place()
    while (piece := read_piece(opened, at, at_once, 1_000_000)).end != at:
        numbers += [number for number, _ in piece.events]
        bad += piece.bad
        at = piece.end
    return numbers, bad, at


@pytest.mark.parametrize("at_once", [1, 2, 500])
def test_a_dump_is_read_line_by_line_whatever_the_size_of_the_pieces(at_once: int) -> None:
    opened = lines(GOOD, b"", b"  ", b"nonsense", GOOD + b"\r", b'["EVENT"]', GOOD)
    numbers, bad, end = read_all(opened, at_once)
    assert numbers == [1, 5, 7]
    assert [line.number for line in bad] == [4, 6]
    assert str(bad[1]) == "line 6: an event is a JSON object, this is an array"
    assert end == Place(len(opened.getvalue()), 7)


@pytest.mark.parametrize(
    "bad",
    [
        b"{",
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"id":' + b"9" * 5000 + b"}",
        json.dumps(json.loads(GOOD) | {"content": "\ud83d"}).encode(),
        json.dumps(json.loads(GOOD) | {"created_at": 2**63}).encode(),
        json.dumps(json.loads(GOOD) | {"id": "0" * 63 + "G"}).encode(),
        b"x" * (SIZE_CAP_BYTES * 3),
        GOOD[:-9],
    ],
    ids=["json", "utf-8", "deep", "digits", "surrogate", "date", "id", "endless", "cut off"],
)
def test_no_line_is_so_bad_that_its_neighbours_are_lost(bad: bytes) -> None:
    """A38, A39"""
    numbers, told, _ = read_all(lines(GOOD, bad, GOOD))
    assert (numbers, [line.number for line in told]) == ([1, 3], [2])


def test_a_mark_of_byte_order_is_no_fault() -> None:
    assert read_all(lines(b"\xef\xbb\xbf" + GOOD))[:2] == ([1], [])


def test_a_piece_ends_after_the_bytes_it_was_given() -> None:
    piece = read_piece(lines(GOOD, GOOD, GOOD), Place(), 500, len(GOOD) + 2)
    assert piece.end == Place(2 * (len(GOOD) + 1), 2)


def test_a_file_is_known_by_what_stands_before_a_place() -> None:
    long = b"a" * TAIL_BYTES * 2
    opened = io.BytesIO(long)
    digest = tail_of(opened, len(long))
    assert opened.tell() == len(long)
    assert tail_of(io.BytesIO(long + b"more"), len(long)) == digest
    assert tail_of(io.BytesIO(long[:-1] + b"b"), len(long)) != digest
    assert tail_of(io.BytesIO(b"short"), len(long)) != digest


def exported(tx: sqlite3.Connection, scope: Scope = ALL) -> list[str]:
    return [json.loads(raw)["content"] for _, raw in signed_events(tx, scope, 0, 100)]


def test_what_is_exported_is_what_was_signed(tx: sqlite3.Connection) -> None:
    events = [event("a"), message("b")]
    keep(tx, heard(*events))
    assert [raw for _, raw in signed_events(tx, ALL, 0, 100)] == [one.raw for one in events]


def test_drafts_private_and_deleted_notes_are_never_exported(tx: sqlite3.Connection) -> None:
    private, deleted = event("private"), event("deleted")
    keep(tx, heard(event("public"), private, deleted))
    keep_note(tx, event("draft"), "draft", NOW)
    mark_deleted(tx, deleted.id)
    tx.execute("UPDATE notes SET audience = 'dm:a:b' WHERE id = ?", (private.id,))
    assert exported(tx) == ["public"]
    assert exported(tx, Scope(everything=True, audience="dm:a:b")) == ["public"], "not even to its readers"


def test_an_export_goes_page_by_page_and_keeps_to_its_scope(tx: sqlite3.Connection) -> None:
    set_manas(tx, "bob", "", [Rule("author", BOB)])
    keep(tx, heard(*[event(f"n{n}", author=BOB if n % 2 else ALICE, at=NOW + n) for n in range(6)]))
    assert exported(tx, Scope(manas=("bob",))) == ["n1", "n3", "n5"]
    assert exported(tx, Scope(everything=True, by=(ALICE,), since=NOW + 2)) == ["n2", "n4"]
    (first, _), (second, _) = signed_events(tx, ALL, 0, 2)
    assert [seq for seq, _ in signed_events(tx, ALL, second, 2)] == [second + 1, second + 2]


def test_signed_samples_go_through_a_dump_unchanged() -> None:
    texts = list(SIGNED.values())
    piece = read_piece(lines(*[text.encode("utf-8", "surrogatepass") for text in texts]), Place(), 500, 10**8)
    assert len(piece.events) + len(piece.bad) == len(texts)

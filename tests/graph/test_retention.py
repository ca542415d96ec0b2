from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from tests.factory import ALICE, BOB, BOT, CHANNEL, GROUP, MENTIONS, NOW, event, heard, mention, message
from tests.stores import count
from uniun_bots.graph.find import have_for, known_ids, note_by_id, raw_event
from uniun_bots.graph.keep import keep, keep_note, mark_deleted
from uniun_bots.graph.manas import Rule, set_manas
from uniun_bots.graph.retention import BATCH, prune_notes
from uniun_bots.inputs.enabled import pause, turn_off, turn_on
from uniun_bots.nostr.event import Event
from uniun_bots.nostr.surfaces import filter_of

DAY = 86_400


def kept_with_text(tx: sqlite3.Connection) -> set[str]:
    return {row[0] for row in tx.execute("SELECT text FROM notes WHERE raw IS NOT NULL")}


def stand(tx: sqlite3.Connection, surface: str, seq: int, gana: str = "harbour-master") -> None:
    turn_on(tx, gana, NOW)
    tx.execute("INSERT INTO cursors (gana, surface, seq) VALUES (?, ?, ?)", (gana, surface, seq))


def keep_old(tx: sqlite3.Connection, *events: Event) -> Sequence[int]:
    """Arrival numbers of events that were heard ten days ago."""
    keep(tx, heard(*events, at=NOW - 10 * DAY))
    return [seq_of(tx, one) for one in events]


def seq_of(tx: sqlite3.Connection, kept: Event) -> int:
    note = note_by_id(tx, kept.id)
    assert note is not None
    return note.seq


def test_old_notes_go_and_young_ones_stay(tx: sqlite3.Connection) -> None:
    keep_old(tx, event("old", at=NOW))
    keep(tx, heard(event("young", at=NOW - 20 * DAY), at=NOW))
    assert prune_notes(tx, NOW - DAY) == 1
    assert kept_with_text(tx) == {"young"}, "what counts is when it was heard, not what its author says"


def test_a_pruned_note_leaves_a_tombstone_and_nothing_else(tx: sqlite3.Connection) -> None:
    old = event("old words", ["p", BOT], ["t", "tide"], ["e", CHANNEL, "", "root"])
    (seq,) = keep_old(tx, old)
    assert prune_notes(tx, NOW) == 1
    note = note_by_id(tx, old.id)
    assert note is not None
    assert (note.seq, note.author, note.text, raw_event(tx, old.id)) == (seq, ALICE, "", None)
    assert [count(tx, table) for table in ("surfaces", "edges", "topics")] == [0, 0, 0]
    asked = tx.execute("SELECT count(*) FROM notes_text WHERE notes_text MATCH 'words'")
    assert asked.fetchone()[0] == 0
    assert prune_notes(tx, NOW) == 0, "once"


def test_full_text_in_every_script_is_taken_out_again(tx: sqlite3.Connection) -> None:
    keep_old(tx, event("昨日、東京へ行きました ข้าว Föhr"))
    prune_notes(tx, NOW)
    tx.execute("INSERT INTO notes_text (notes_text) VALUES ('integrity-check')")
    left = tx.execute("SELECT count(*) FROM notes_text WHERE notes_text MATCH '東京 OR fohr'")
    assert left.fetchone()[0] == 0


def test_a_pruned_note_that_comes_again_wakes_nobody(tx: sqlite3.Connection) -> None:
    old = message("old")
    keep_old(tx, old)
    prune_notes(tx, NOW)
    again = keep(tx, heard(old))
    assert (again.new, again.known, known_ids(tx, [old.id])) == ((), 1, {old.id})
    assert have_for(tx, filter_of(GROUP), 0) == []


def test_what_a_cursor_has_not_passed_stays(tx: sqlite3.Connection) -> None:
    seqs = keep_old(tx, *(message(f"n{number}") for number in range(4)))
    stand(tx, GROUP, seqs[2])
    assert prune_notes(tx, NOW) == 2
    assert kept_with_text(tx) == {"n2", "n3"}


def test_the_slowest_cursor_decides(tx: sqlite3.Connection) -> None:
    seqs = keep_old(tx, *(message(f"n{number}") for number in range(4)))
    stand(tx, GROUP, seqs[3] + 1, "fast")
    stand(tx, GROUP, seqs[1], "slow")
    assert prune_notes(tx, NOW) == 1


def test_a_gana_that_is_off_holds_nothing_back(tx: sqlite3.Connection) -> None:
    seqs = keep_old(tx, *(message(f"n{number}") for number in range(4)))
    stand(tx, GROUP, seqs[0], "off")
    stand(tx, GROUP, seqs[2], "paused")
    turn_off(tx, "off")
    pause(tx, "paused", "by a person")
    assert prune_notes(tx, NOW) == 2


def test_a_cursor_holds_only_the_notes_of_its_surface(tx: sqlite3.Connection) -> None:
    keep_old(tx, mention("to the bot"), event("by bob", author=BOB), message("in the group"))
    stand(tx, MENTIONS, 1)
    assert prune_notes(tx, NOW) == 2
    assert kept_with_text(tx) == {"to the bot"}


def test_our_own_notes_and_drafts_stay(tx: sqlite3.Connection) -> None:
    keep_note(tx, message("at nine", author=BOT), "own", NOW - 10 * DAY)
    keep_note(tx, event("a lesson", author=BOT), "draft", NOW - 10 * DAY)
    assert prune_notes(tx, NOW) == 0


def test_arrival_numbers_go_on_where_they_were(tx: sqlite3.Connection) -> None:
    seqs = keep_old(tx, *(message(f"n{number}") for number in range(3)))
    prune_notes(tx, NOW)
    new = message("new")
    keep(tx, heard(new))
    assert seq_of(tx, new) == seqs[-1] + 1


def test_a_long_backlog_goes_in_bounded_steps(tx: sqlite3.Connection) -> None:
    keep_old(tx, *(message(f"n{number}") for number in range(BATCH + 10)))
    assert [prune_notes(tx, NOW) for _ in range(3)] == [BATCH, 10, 0]


def test_notes_of_a_manas_stay_and_go_when_their_author_takes_them_back(tx: sqlite3.Connection) -> None:
    set_manas(tx, "bob", "", [Rule("author", BOB)])
    taken_back = event("taken back", author=BOB)
    keep_old(tx, event("by bob", author=BOB), event("by alice"), taken_back)
    assert prune_notes(tx, NOW) == 1
    assert kept_with_text(tx) == {"by bob", "taken back"}
    mark_deleted(tx, taken_back.id)
    assert prune_notes(tx, NOW) == 1
    assert kept_with_text(tx) == {"by bob"}
    assert count(tx, "manas_notes") == 1
    set_manas(tx, "bob", "", [])
    assert prune_notes(tx, NOW) == 1, "outside every Manas now"

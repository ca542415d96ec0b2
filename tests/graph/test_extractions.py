from __future__ import annotations

import sqlite3

from tests.factory import NOW, event, heard
from tests.graph.long_notes import BREAD, OF_TIDES, TIDES, kept
from tests.stores import tx as tx
from uniun_bots.graph.extractions import (
    BATCH,
    FIRST_PAUSE_S,
    LONG_ENOUGH_BYTES,
    TRIES,
    Backlog,
    backlog,
    due,
    enqueue,
    memory_of,
    next_due,
    put_off,
    unqueued,
)
from uniun_bots.graph.keep import keep, mark_deleted
from uniun_bots.graph.memories import remember


def queued(tx: sqlite3.Connection, now: float = NOW) -> list[str]:
    return [waiting.note.text for waiting in due(tx, now, 100)]


def test_long_notes_wait_the_newest_first_and_short_ones_never(tx: sqlite3.Connection) -> None:
    for text in (TIDES, "short", BREAD):
        kept(tx, text)
    gone = kept(tx, TIDES + "!")
    mark_deleted(tx, gone.id)
    assert unqueued(tx)
    assert enqueue(tx) == 4
    assert queued(tx) == [BREAD, TIDES]
    assert not unqueued(tx)
    assert enqueue(tx) == 0


def test_the_length_that_counts_is_that_of_the_bytes(tx: sqlite3.Connection) -> None:
    """A hundred Chinese characters say more than two hundred letters."""
    for text in ("x" * (LONG_ENOUGH_BYTES - 1), "潮" * (LONG_ENOUGH_BYTES // 3 + 1)):
        kept(tx, text)
    enqueue(tx)
    assert [text[0] for text in queued(tx)] == ["潮"]


def test_a_large_graph_is_looked_at_in_batches(tx: sqlite3.Connection) -> None:
    keep(tx, heard(*[event(f"{number} {TIDES}") for number in range(BATCH + 3)]))
    assert [enqueue(tx), enqueue(tx), enqueue(tx)] == [BATCH, 3, 0]
    assert backlog(tx) == Backlog(kept=0, waiting=BATCH + 3, given_up=0)


def test_a_refused_try_is_put_off_longer_and_longer_and_in_the_end_given_up(tx: sqlite3.Connection) -> None:
    note = kept(tx, TIDES)
    enqueue(tx)
    for attempt in range(1, TRIES + 1):
        now = NOW + attempt * 10_000
        (waiting,) = due(tx, now, 10)
        assert waiting.attempt == attempt
        put_off(tx, waiting, "nonsense", now)
        pause = FIRST_PAUSE_S * 2 ** (attempt - 1)
        assert queued(tx, now + pause - 1) == []
        assert next_due(tx) == (now + pause if attempt < TRIES else None)
    assert backlog(tx) == Backlog(kept=0, waiting=0, given_up=1)
    assert memory_of(tx, note.seq) == (None, "given up: nonsense")


def test_a_fault_of_the_model_costs_a_note_no_try(tx: sqlite3.Connection) -> None:
    kept(tx, TIDES)
    enqueue(tx)
    for number in range(TRIES + 2):
        (waiting,) = due(tx, NOW + 1000 * number, 10)
        assert waiting.attempt == 1
        put_off(tx, waiting, "no model", NOW + 1000 * number, counts=False)
    assert backlog(tx).waiting == 1


def test_what_is_remembered_waits_no_more(tx: sqlite3.Connection) -> None:
    note = kept(tx, TIDES)
    enqueue(tx)
    assert memory_of(tx, note.seq) == (None, "waits for the model")
    remember(tx, note, OF_TIDES, "scripted", NOW)
    assert queued(tx) == []
    assert next_due(tx) is None
    assert memory_of(tx, note.seq) == (OF_TIDES, "")
    assert backlog(tx) == Backlog(kept=1, waiting=0, given_up=0)


def test_a_rewritten_note_waits_anew_and_a_deleted_one_no_more(tx: sqlite3.Connection) -> None:
    """A draft whose file changed, a long-form note with a new version."""
    note, short = kept(tx, TIDES), kept(tx, "short")
    enqueue(tx)
    remember(tx, note, OF_TIDES, "scripted", NOW)
    tx.execute("UPDATE notes SET text = ? WHERE seq = ?", (BREAD, note.seq))
    assert memory_of(tx, note.seq) == (None, "waits for the model")
    tx.execute("UPDATE notes SET text = ? WHERE seq = ?", (TIDES, short.seq))
    assert queued(tx) == [TIDES, BREAD], "a short one that became long is found too"
    mark_deleted(tx, note.id)
    assert queued(tx) == [TIDES]


def test_while_memories_are_off_a_rewritten_note_is_not_queued(tx: sqlite3.Connection) -> None:
    note = kept(tx, TIDES)
    tx.execute("UPDATE notes SET text = ? WHERE seq = ?", (BREAD, note.seq))
    assert backlog(tx) == Backlog(0, 0, 0)

from __future__ import annotations

import sqlite3

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.factory import ALICE, BOB, BOT, GROUP, MENTIONS, NOW, SECOND_BOT, heard, mention, message
from tests.stores import count, undone
from uniun_bots.graph.keep import keep, keep_note
from uniun_bots.graph.retention import prune_notes
from uniun_bots.inputs.cursors import (
    advance,
    begin,
    cursor,
    own_keys,
    pending,
    pending_authors,
    pending_count,
    surfaces_with_pending,
)
from uniun_bots.inputs.decided import decide, hold
from uniun_bots.inputs.enabled import turn_on
from uniun_bots.inputs.held import Held
from uniun_bots.inputs.turn import Turn
from uniun_bots.nostr.event import Event

GANA = "harbour-master"
OWN = own_keys([BOT, SECOND_BOT])


def hear(tx: sqlite3.Connection, *events: Event) -> None:
    keep(tx, heard(*events))


def decide_one(tx: sqlite3.Connection, note_id: str, *, held: bool, gana: str = GANA) -> None:
    if held:
        hold(tx, gana, [Held(note_id, "no", "input")], NOW)
        return
    tx.execute("INSERT INTO answered VALUES (?, ?, 1, 'silent', ?, '', '', 0)", (gana, note_id, GROUP))


def undecided(tx: sqlite3.Connection, gana: str = GANA, surface: str = GROUP) -> list[str]:
    return [note.text for note in pending(tx, gana, surface, OWN)]


def test_pending_notes_come_in_the_order_of_arrival_whatever_their_dates_say(tx: sqlite3.Connection) -> None:
    """A15"""
    hear(tx, message("future", at=NOW + 300_000_000), message("now"), message("past", at=NOW - 9000))
    assert undecided(tx) == ["future", "now", "past"]


def test_a_note_from_the_future_hides_nothing_that_comes_after_it(tx: sqlite3.Connection) -> None:
    """A15"""
    future = message("see you in 2035", at=2_051_222_400)
    hear(tx, future)
    decide_one(tx, future.id, held=True)
    assert not advance(tx, GANA, GROUP, OWN)
    hear(tx, message("honest", at=NOW + 1), message("back-dated", at=NOW - 9000))
    assert undecided(tx) == ["honest", "back-dated"]


def test_own_and_hosted_identities_are_never_inputs(tx: sqlite3.Connection) -> None:
    """A21"""
    hear(tx, message("ours", author=BOT), message("theirs"), message("of another Gana", author=SECOND_BOT))
    assert undecided(tx) == ["theirs"]
    assert pending_count(tx, GANA, GROUP, OWN) == 1
    assert pending_authors(tx, GANA, GROUP, OWN, most=10) == {ALICE}


def test_what_we_sent_is_no_input_when_its_identity_is_no_longer_hosted(tx: sqlite3.Connection) -> None:
    keep_note(tx, message("at nine", author=BOB), "own", NOW)
    assert undecided(tx) == []


@pytest.mark.parametrize("held", [True, False])
def test_a_decision_of_one_gana_or_surface_says_nothing_about_another(
    tx: sqlite3.Connection, held: bool
) -> None:
    said = message("hi")
    hear(tx, said, mention("hello"))
    decide_one(tx, said.id, held=held)
    assert (undecided(tx), undecided(tx, "tide"), undecided(tx, surface=MENTIONS)) == ([], ["hi"], ["hello"])


def test_the_cursor_waits_at_the_lowest_that_is_not_decided(tx: sqlite3.Connection) -> None:
    said = [message(f"n{number}") for number in range(3)]
    hear(tx, *said)
    decide_one(tx, said[2].id, held=False)
    decide_one(tx, said[0].id, held=True)
    assert advance(tx, GANA, GROUP, OWN)
    assert (cursor(tx, GANA, GROUP), undecided(tx)) == (2, ["n1"])
    decide_one(tx, said[1].id, held=False)
    assert not advance(tx, GANA, GROUP, OWN)
    assert cursor(tx, GANA, GROUP) == 4


def test_a_surface_first_seen_later_starts_where_the_gana_was_turned_on(tx: sqlite3.Connection) -> None:
    hear(tx, message("before"))
    turn_on(tx, GANA, NOW)
    hear(tx, message("after"))
    assert undecided(tx) == ["after"]


def test_the_start_of_a_cursor_is_written_down_once(tx: sqlite3.Connection) -> None:
    hear(tx, message("before"))
    turn_on(tx, GANA, NOW)
    begin(tx, GANA, GROUP)
    assert cursor(tx, GANA, GROUP) == 2
    tx.execute("UPDATE cursors SET seq = 9")
    begin(tx, GANA, GROUP)
    assert cursor(tx, GANA, GROUP) == 9


def test_retention_takes_no_input_from_a_gana_that_has_not_come_to_decide_yet(tx: sqlite3.Connection) -> None:
    """It was paused, or its model was gone, longer than notes are kept."""
    turn_on(tx, GANA, NOW)
    begin(tx, GANA, GROUP)
    hear(tx, message("waits"), mention("nobody waits for it"))
    assert prune_notes(tx, NOW + 1) == 1
    assert undecided(tx) == ["waits"]


def test_a_start_finds_what_is_pending(tx: sqlite3.Connection) -> None:
    hear(tx, message("hi"), message("ours", author=BOT))
    watching = [(GANA, GROUP), (GANA, MENTIONS), ("tide", GROUP)]
    for_harbour = message("hi").id
    decide_one(tx, for_harbour, held=False)
    assert surfaces_with_pending(tx, watching, OWN) == [("tide", GROUP)]


@pytest.mark.parametrize("most", [1, 3, 100])
def test_pending_can_be_read_page_by_page(tx: sqlite3.Connection, most: int) -> None:
    hear(tx, *(message(f"n{number}") for number in range(7)))
    texts: list[str] = []
    after = 0
    while page := pending(tx, GANA, GROUP, OWN, after=after, most=most):
        texts += [note.text for note in page]
        after = page[-1].seq
    assert texts == [f"n{number}" for number in range(7)]


def test_a_turn_is_decided_with_all_that_it_covers(tx: sqlite3.Connection) -> None:
    hear(tx, message("one"), message("two"), message("three"))
    notes = pending(tx, GANA, GROUP, OWN)
    decide(tx, Turn(GANA, GROUP, tuple(notes[:2]), None, 1), run=1, ending="silent", thread="t", now=NOW)
    assert undecided(tx) == ["three"]
    assert count(tx, "answered") == 2


# the low-water mark as a property ---------------------------------------------------------------------

steps = st.lists(
    st.one_of(
        st.tuples(st.just("note"), st.sampled_from([ALICE, BOB, BOT, SECOND_BOT]), st.booleans()),
        st.tuples(st.just("decide"), st.integers(0, 50), st.booleans()),
        st.tuples(st.just("advance"), st.just(0), st.booleans()),
        st.tuples(st.just("prune"), st.just(0), st.booleans()),
    ),
    max_size=40,
)


class Model:
    """A dumb one: a list of what arrived on the surface, in order, and a set of what is decided."""

    def __init__(self) -> None:
        self.arrived: list[tuple[int, str, str]] = []
        self.decided: set[str] = set()

    def waiting(self) -> list[tuple[int, str]]:
        own = (BOT, SECOND_BOT)
        return [(seq, i) for seq, i, author in self.arrived if author not in own and i not in self.decided]

    def low(self) -> int:
        top = self.arrived[-1][0] if self.arrived else 0
        return self.waiting()[0][0] if self.waiting() else top + 1


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(steps=steps, before=st.integers(0, 3))
def test_the_cursor_never_goes_back_and_never_past_what_is_undecided(
    tx: sqlite3.Connection, steps: list[tuple[str, str | int, bool]], before: int
) -> None:
    with undone(tx):
        hear(tx, *(message(f"before {number}") for number in range(before)))
        turn_on(tx, GANA, NOW)
        begin(tx, GANA, GROUP)
        model, low = Model(), before + 1
        for number, (step, what, flag) in enumerate(steps):
            if step == "note":
                event = (message if flag else mention)(f"n{number}", author=str(what))
                hear(tx, event)
                if flag:
                    seq = tx.execute("SELECT max(seq) FROM notes").fetchone()[0]
                    model.arrived.append((seq, event.id, event.author))
            elif step == "decide" and model.waiting():
                _, note_id = model.waiting()[int(what) % len(model.waiting())]
                decide_one(tx, note_id, held=flag)
                model.decided.add(note_id)
            elif step == "advance":
                more = advance(tx, GANA, GROUP, OWN)
                assert more == bool(model.waiting())
                assert cursor(tx, GANA, GROUP) == max(low, model.low())
            elif step == "prune":
                prune_notes(tx, NOW + 1)
            assert cursor(tx, GANA, GROUP) >= low, "never back"
            low = cursor(tx, GANA, GROUP)
            waiting = [note.id for note in pending(tx, GANA, GROUP, OWN, most=100)]
            assert waiting == [note_id for _, note_id in model.waiting()], "nothing lost, nothing twice"
        for _, note_id in model.waiting():
            decide_one(tx, note_id, held=False)
        assert not advance(tx, GANA, GROUP, OWN)

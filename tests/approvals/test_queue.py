from __future__ import annotations

import sqlite3
from dataclasses import replace

import pytest

from tests.factory import ALICE, BOT, CHANNEL, GROUP, NOW, RELAY, hex_of
from uniun_bots.approvals import queue
from uniun_bots.approvals.approval import Settled, State
from uniun_bots.approvals.payload import Action, Payload, Reminder, Share, Unsigned, read, written
from uniun_bots.approvals.propose import EXPIRES_S, Proposal, propose
from uniun_bots.errors import NotFound

DRAFT = Unsigned(
    author=BOT,
    kind=42,
    content="High water at noon. — “満潮”",
    tags=(("e", CHANNEL, RELAY, "root"), ("p", ALICE)),
    relays=(RELAY,),
    surface=GROUP,
    people=(ALICE,),
)
PAYLOADS: list[Payload] = [DRAFT, Reminder("Look at the tide.", NOW + 60.5), Share("Look at this.")]


def proposal(payload: Payload = DRAFT, key: str = "question") -> Proposal:
    return Proposal("tide", GROUP, hex_of(key), payload, answers=hex_of(key), asker=ALICE, run=7)


@pytest.mark.parametrize("payload", PAYLOADS, ids=lambda one: type(one).__name__)
def test_what_is_proposed_comes_back_as_it_was(tx: sqlite3.Connection, payload: Payload) -> None:
    found = queue.approval(tx, propose(tx, proposal(payload), NOW))
    assert found.payload == payload
    assert (found.gana, found.answers, found.asker, found.run) == ("tide", hex_of("question"), ALICE, 7)
    assert (found.state, found.expires_at - found.at) == (State.WAITING, EXPIRES_S) == (State.WAITING, 86_400)


@pytest.mark.parametrize("payload", PAYLOADS, ids=lambda one: type(one).__name__)
def test_every_kind_of_payload_reads_back_what_it_writes(payload: Payload) -> None:
    action = {Unsigned: Action.PUBLISH, Reminder: Action.REMIND, Share: Action.SHARE}[type(payload)]
    assert read(action, written(payload)) == payload


def test_a_run_that_proposes_again_after_a_crash_makes_no_second_row(tx: sqlite3.Connection) -> None:
    first = propose(tx, proposal(), NOW)
    assert propose(tx, proposal(), NOW + 5) == first
    assert len({propose(tx, proposal(one), NOW) for one in PAYLOADS}) == 3
    later = [Reminder("Look at the tide.", NOW + 60 * minutes) for minutes in range(1, 4)]
    assert len({propose(tx, proposal(one), NOW) for one in later}) == 1
    assert propose(tx, proposal(key="another question"), NOW) != first


def test_what_was_reworded_is_not_proposed_anew_in_its_first_words(tx: sqlite3.Connection) -> None:
    number = propose(tx, proposal(), NOW)
    queue.reword(tx, number, "At noon.")
    assert propose(tx, proposal(), NOW) == number
    assert queue.approval(tx, number).payload == replace(DRAFT, content="At noon.")


def test_a_row_is_settled_once(tx: sqlite3.Connection) -> None:
    number = propose(tx, proposal(), NOW)
    queue.settle(tx, number, State.REJECTED, "too harsh", NOW)
    with pytest.raises(Settled, match="approval 1 is rejected already: too harsh"):
        queue.settle(tx, number, State.ACCEPTED, "", NOW)
    with pytest.raises(Settled):
        queue.reword(tx, number, "At noon.")
    assert queue.approvals(tx) == []
    assert [one.state for one in queue.approvals(tx, everything=True)] == [State.REJECTED]


def test_what_is_not_there_is_told(tx: sqlite3.Connection) -> None:
    with pytest.raises(NotFound, match="no approval 3"):
        queue.approval(tx, 3)


def test_what_nobody_decided_expires_after_a_day_and_is_gone_after_ninety(tx: sqlite3.Connection) -> None:
    number = propose(tx, proposal(), NOW)
    assert queue.expire(tx, NOW + EXPIRES_S - 1) == 0
    assert queue.waiting_count(tx, NOW + EXPIRES_S - 1) == queue.waiting_count(tx, NOW, "tide") == 1
    assert queue.waiting_count(tx, NOW + EXPIRES_S) == queue.waiting_count(tx, NOW, "another") == 0
    assert queue.expire(tx, NOW + EXPIRES_S) == 1
    assert queue.approval(tx, number).state is State.EXPIRED
    queue.expire(tx, NOW + EXPIRES_S + queue.KEEP_S + 1)
    assert queue.approvals(tx, everything=True) == []


def test_a_reminder_is_due_at_its_time_once_it_is_accepted(tx: sqlite3.Connection) -> None:
    number = propose(tx, proposal(Reminder("Look at the tide.", NOW + 60)), NOW)
    assert queue.due_reminders(tx, NOW + 61) == []
    queue.settle(tx, number, State.ACCEPTED, "", NOW)
    assert queue.due_reminders(tx, NOW + 59) == []
    assert [one.number for one in queue.due_reminders(tx, NOW + 60)] == [number]
    assert queue.finish(tx, number, State.DONE, "sent")
    assert not queue.finish(tx, number, State.DONE, "sent")
    assert queue.due_reminders(tx, NOW + 61) == []

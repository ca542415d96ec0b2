"""close: the one transaction that ends a run, calling one function of each owner.

Either all of it is on disk or nothing is: outbox rows, our own note, answered, run row, cursor, wakeup. In mode
`approve` the unsigned draft stands in the place of the first two.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from uniun_bots import failpoints
from uniun_bots.approvals.payload import Unsigned
from uniun_bots.approvals.propose import Proposal, propose
from uniun_bots.errors import UniunError
from uniun_bots.graph.keep import keep_note
from uniun_bots.inputs.cursors import advance
from uniun_bots.inputs.decided import decide
from uniun_bots.inputs.enabled import spend, standing
from uniun_bots.inputs.retries import put_off
from uniun_bots.inputs.turn import Turn
from uniun_bots.journal.record import bury, record_run
from uniun_bots.personas.gana import Mode, Trigger
from uniun_bots.personas.hosted import HostedGana
from uniun_bots.publishing.outbox import enqueue
from uniun_bots.publishing.pinned import Pinned, Post
from uniun_bots.runs.outcome import Ending, Outcome
from uniun_bots.triggers.match import settle

ONCE = (Trigger.ONCE_ON_ENABLE, Trigger.ONCE_ON_FIRST_MESSAGE)


class Abandoned(UniunError):
    """The Gana was paused or turned off while it ran: nothing is published, its inputs wait."""


class Withdrawn(UniunError):
    """The author deleted what was being answered, or wants no answers any more."""

    def __init__(self, message: str, setting: str = "NIP-09 deletion") -> None:
        self.setting = setting
        super().__init__(message)


@dataclass(frozen=True, slots=True)
class Ended:
    """A run as it is closed."""

    hosted: HostedGana
    turn: Turn
    outcome: Outcome
    pinned: Post | None
    thread: str
    own: str
    started_at: float
    ended_at: float
    knowledge: tuple[str, ...] = ()
    """Ids of the notes that it was shown as knowledge."""
    run: int | None = None
    """Its number, when it has been in the log since it began."""


@dataclass(frozen=True, slots=True)
class Closed:
    run: int
    ending: Ending
    more: bool
    """Something is still pending on the surface."""
    again_at: float | None
    """When a failed turn is tried again."""
    dead: bool
    """The turn's tries are used up."""


def close(tx: sqlite3.Connection, ended: Ended) -> Closed:
    """Raises AlreadyDecided, Abandoned or Withdrawn; then nothing of it stays."""
    turn, outcome, gana = ended.turn, ended.outcome, ended.hosted.gana
    state = standing(tx, gana.id)
    if state.paused or not state.enabled:
        raise Abandoned(f"{gana.id} was paused or turned off while it ran")
    if ended.pinned and _withdrawn(tx, turn):
        raise Withdrawn(f"{turn.latest.id} was deleted by its author")
    run = record_run(
        tx,
        turn,
        outcome,
        mode=gana.mode,
        event_id=ended.pinned.event.id if isinstance(ended.pinned, Pinned) else None,
        started_at=ended.started_at,
        ended_at=ended.ended_at,
        run=ended.run,
        knowledge=ended.knowledge,
    )
    again_at, dead = None, False
    if outcome.ending.decides:
        decide(tx, turn, run=run, ending=outcome.ending, thread=ended.thread, now=ended.ended_at)
    else:
        again_at = put_off(tx, turn, outcome.reason, ended.ended_at)
        dead = again_at is None
        if dead:
            _bury_turn(tx, ended, run)
    if isinstance(ended.pinned, Unsigned) and gana.mode is Mode.APPROVE:
        _put_before_a_person(tx, ended, ended.pinned, run)
    elif isinstance(ended.pinned, Pinned) and gana.mode is Mode.LIVE:
        enqueue(tx, ended.pinned, gana.id, run, ended.ended_at)
        keep_note(tx, ended.pinned.event, "own", ended.ended_at)
    if outcome.ending is Ending.SUCCEEDED and gana.trigger in ONCE:
        spend(tx, gana.id)
    more = advance(tx, gana.id, turn.surface, ended.own)
    settle(tx, gana.id, turn.surface, more=more)
    failpoints.hit("closing")
    return Closed(run, outcome.ending, more, again_at, dead)


def _put_before_a_person(tx: sqlite3.Connection, ended: Ended, unsigned: Unsigned, run: int) -> None:
    turn = ended.turn
    answered = turn.latest if turn.notes else None
    proposal = Proposal(
        gana=turn.gana,
        surface=turn.surface,
        key=turn.key,
        payload=unsigned,
        answers=answered.id if answered else None,
        asker=answered.author if answered else "",
        run=run,
    )
    propose(tx, proposal, ended.ended_at)


def _withdrawn(tx: sqlite3.Connection, turn: Turn) -> bool:
    return bool(turn.notes) and bool(
        tx.execute("SELECT deleted FROM notes WHERE id = ?", (turn.latest.id,)).fetchone()[0]
    )


def _bury_turn(tx: sqlite3.Connection, ended: Ended, run: int) -> None:
    turn = ended.turn
    decide(tx, turn, run=run, ending="dead", thread=ended.thread, now=ended.ended_at)
    bury(
        tx,
        kind="turn",
        gana=turn.gana,
        surface=turn.surface,
        key=turn.key,
        reason=ended.outcome.reason,
        now=ended.ended_at,
    )

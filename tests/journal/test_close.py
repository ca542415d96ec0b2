from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.publishing.values import ALICE, GROUP, NOW, failed, hosted, pinned, said, turn
from uniun_bots.approvals.queue import approvals
from uniun_bots.database.store import Store
from uniun_bots.graph.keep import keep
from uniun_bots.graph.note import Note
from uniun_bots.inputs import enabled
from uniun_bots.inputs.cursors import cursor, own_keys, pending
from uniun_bots.inputs.decided import AlreadyDecided
from uniun_bots.inputs.retries import MOST_ATTEMPTS
from uniun_bots.inputs.turn import Turn
from uniun_bots.journal.close import Abandoned, Closed, Ended, Withdrawn, close
from uniun_bots.journal.record import dead_letters
from uniun_bots.nostr.event import Draft, Event
from uniun_bots.nostr.secret import new_secret
from uniun_bots.nostr.signer import LocalSigner
from uniun_bots.personas.hosted import HostedGana
from uniun_bots.publishing.pin import draft_reply
from uniun_bots.publishing.pinned import Post
from uniun_bots.relays.heard import Heard
from uniun_bots.runs.outcome import Ending, Outcome

SURFACE = f"group:{GROUP}"
TABLES = (
    "answered",
    "approvals",
    "cursors",
    "dead_letters",
    "notes",
    "outbox",
    "receipts",
    "retries",
    "runs",
    "steps",
)
WRITTEN = {"answered": 1, "cursors": 1, "notes": 2, "outbox": 1, "receipts": 2, "runs": 1, "steps": 1}


class Desk:
    """A store in which `tide` is on, a person's question stands in its group, and a wakeup is raised for it."""

    def __init__(self, store: Store, hosted_gana: HostedGana) -> None:
        self.store, self.hosted = store, hosted_gana
        self.own = own_keys([hosted_gana.pubkey])
        self.person = LocalSigner(new_secret())

    async def open(self) -> None:
        await self.store.write(lambda tx: enabled.turn_on(tx, "tide", NOW))
        self.question = await self.hear("When is high water?")
        await self.store.write(
            lambda tx: tx.execute("INSERT INTO wakeups VALUES ('tide', ?, 0, 0)", (SURFACE,)) and None
        )

    async def hear(self, text: str, kind: int = 42, *tags: tuple[str, ...]) -> Event:
        draft = Draft(kind, text, tags or (("e", GROUP, "", "root"),), NOW)
        event = await self.person.sign(draft)
        await self.store.write(lambda tx: keep(tx, [Heard(event, "wss://one.example", NOW)]))
        return event

    async def pending(self) -> tuple[Note, ...]:
        return tuple(await self.store.read(lambda tx: pending(tx, "tide", SURFACE, self.own)))

    async def turn(self, attempt: int = 1) -> Turn:
        return turn(*await self.pending(), attempt=attempt)

    async def close(
        self, taken: Turn, outcome: Outcome, mail: Post | None, hosted_gana: HostedGana | None = None
    ) -> Closed:
        ended = Ended(hosted_gana or self.hosted, taken, outcome, mail, "top", self.own, NOW, NOW + 2)
        return await self.store.write(lambda tx: close(tx, ended))

    async def rows(self, sql: str, *args: object) -> list[dict[str, Any]]:
        return await self.store.read(lambda tx: [dict(row) for row in tx.execute(sql, args)])

    async def counts(self) -> dict[str, int]:
        found = {table: len(await self.rows(f"SELECT 1 FROM {table}")) for table in TABLES}  # noqa: S608
        return {table: count for table, count in found.items() if count}


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    async with Store(tmp_path / "one.sqlite") as store:
        one = Desk(store, hosted())
        await one.open()
        yield one


async def test_a_success_writes_all_of_it(desk: Desk) -> None:
    taken, mail = await desk.turn(), await pinned()
    closed = await desk.close(taken, said("High water at noon."), mail)
    assert (closed.ending, closed.more, closed.again_at, closed.dead) == (
        Ending.SUCCEEDED,
        False,
        None,
        False,
    )
    assert await desk.counts() == WRITTEN
    (run,) = await desk.rows("SELECT * FROM runs")
    assert (run["event_id"], run["mode"], json.loads(run["keys"])) == (
        mail.event.id,
        "live",
        [desk.question.id],
    )
    (own,) = await desk.rows("SELECT * FROM notes WHERE id = ?", mail.event.id)
    assert (own["origin"], own["raw"]) == ("own", mail.event.raw)
    assert await desk.rows("SELECT 1 FROM wakeups") == []
    assert await desk.pending() == ()


OWNERS = ("record_run", "decide", "enqueue", "keep_note", "advance", "settle", "failpoints.hit")


@pytest.mark.parametrize("owner", OWNERS)
async def test_when_one_owner_fails_nothing_of_it_stays(
    desk: Desk, owner: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, taken, mail = await desk.counts(), await desk.turn(), await pinned()

    def fails(*_: object, **__: object) -> None:
        raise RuntimeError("no")

    with monkeypatch.context() as broken:
        broken.setattr(f"uniun_bots.journal.close.{owner}", fails)
        with pytest.raises(RuntimeError):
            await desk.close(taken, said("High water at noon."), mail)
    assert await desk.counts() == before
    assert await desk.pending() == taken.notes
    await desk.close(taken, said("High water at noon."), mail)
    assert await desk.counts() == WRITTEN


APPROVING = hosted(mode="approve")
DRAFTED = {"answered": 1, "approvals": 1, "cursors": 1, "notes": 1, "runs": 1, "steps": 1}


async def test_a_draft_for_a_person_is_kept_in_the_place_of_outbox_and_note(desk: Desk) -> None:
    taken, outcome = await desk.turn(), said("High water at noon.")
    unsigned = draft_reply(APPROVING, taken, outcome)
    await desk.close(taken, outcome, unsigned, APPROVING)
    assert await desk.counts() == DRAFTED
    (found,) = await desk.store.read(approvals)
    assert (found.payload, found.run, found.key) == (unsigned, 1, desk.question.id)
    assert (found.answers, found.asker) == (desk.question.id, desk.question.author)
    assert await desk.pending() == ()


@pytest.mark.parametrize("owner", ("record_run", "decide", "propose", "advance", "settle", "failpoints.hit"))
async def test_when_one_owner_fails_nothing_of_a_draft_stays(
    desk: Desk, owner: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, taken, outcome = await desk.counts(), await desk.turn(), said("High water at noon.")
    unsigned = draft_reply(APPROVING, taken, outcome)

    def fails(*_: object, **__: object) -> None:
        raise RuntimeError("no")

    with monkeypatch.context() as broken:
        broken.setattr(f"uniun_bots.journal.close.{owner}", fails)
        with pytest.raises(RuntimeError):
            await desk.close(taken, outcome, unsigned, APPROVING)
    assert await desk.counts() == before
    await desk.close(taken, outcome, unsigned, APPROVING)
    assert await desk.counts() == DRAFTED


async def test_what_its_author_deleted_while_it_ran_is_not_put_before_a_person(desk: Desk) -> None:
    taken, outcome = await desk.turn(), said("High water at noon.")
    await desk.hear("", 5, ("e", desk.question.id))
    with pytest.raises(Withdrawn):
        await desk.close(taken, outcome, draft_reply(APPROVING, taken, outcome), APPROVING)
    assert "approvals" not in await desk.counts()


async def test_a_second_run_over_the_same_input_leaves_nothing(desk: Desk) -> None:
    taken = await desk.turn()
    await desk.close(taken, said("First."), await pinned("First."))
    with pytest.raises(AlreadyDecided):
        await desk.close(taken, said("Second."), await pinned("Second."))
    assert await desk.counts() == WRITTEN


async def test_a_turn_of_which_one_input_was_decided_meanwhile_leaves_nothing(desk: Desk) -> None:
    first = await desk.turn()
    await desk.hear("And low water?")
    both = await desk.turn()
    await desk.close(first, said("First."), await pinned("First."))
    with pytest.raises(AlreadyDecided):
        await desk.close(both, said("Both."), await pinned("Both."))
    assert [note.text for note in await desk.pending()] == ["And low water?"]


@pytest.mark.parametrize("stop", [enabled.turn_off, lambda tx, gana: enabled.pause(tx, gana, "by a person")])
async def test_a_gana_that_was_stopped_while_it_ran_publishes_nothing(desk: Desk, stop: Any) -> None:
    taken = await desk.turn()
    await desk.store.write(lambda tx: stop(tx, "tide"))
    for outcome, mail in ((said("Too late."), await pinned()), (failed(), None)):
        with pytest.raises(Abandoned):
            await desk.close(taken, outcome, mail)
    assert await desk.counts() == {"notes": 1}
    assert await desk.pending() == taken.notes


async def test_what_its_author_deleted_meanwhile_is_not_answered(desk: Desk) -> None:
    """A32"""
    taken = await desk.turn()
    await desk.hear("", 5, ("e", desk.question.id))
    with pytest.raises(Withdrawn):
        await desk.close(taken, said("Too late."), await pinned())
    assert await desk.counts() == {"notes": 1}
    silent = Outcome(Ending.SILENT, None, (), "the model chose to say nothing", ())
    assert (await desk.close(taken, silent, None)).ending is Ending.SILENT


async def test_a_stranger_cannot_withdraw_a_question(desk: Desk) -> None:
    taken = await desk.turn()
    desk.person = LocalSigner(new_secret())
    await desk.hear("", 5, ("e", desk.question.id))
    await desk.close(taken, said("High water at noon."), await pinned())
    assert (await desk.counts())["outbox"] == 1


async def test_shadow_decides_and_sends_nothing(desk: Desk) -> None:
    """Even if a pinned event came along: only live mode has an outbox."""
    shadow = hosted(mode="shadow")
    await desk.close(await desk.turn(), said("High water at noon."), await pinned(), shadow)
    assert await desk.counts() == {"answered": 1, "cursors": 1, "notes": 1, "runs": 1, "steps": 1}
    (run,) = await desk.rows("SELECT * FROM runs")
    assert (run["mode"], run["body"]) == ("shadow", "High water at noon.")
    assert await desk.pending() == ()


@pytest.mark.parametrize("ending", [Ending.SILENT, Ending.MALFORMED, Ending.EXHAUSTED])
async def test_an_ending_that_decides_moves_the_cursor(desk: Desk, ending: Ending) -> None:
    low = await desk.store.read(lambda tx: cursor(tx, "tide", SURFACE))
    closed = await desk.close(await desk.turn(), Outcome(ending, None, (), "so it is", ()), None)
    assert closed.again_at is None
    assert await desk.pending() == ()
    assert await desk.store.read(lambda tx: cursor(tx, "tide", SURFACE)) > low


@pytest.mark.parametrize("ending", [Ending.FAILED, Ending.CANCELLED])
async def test_an_ending_that_does_not_decide_is_tried_again_later(desk: Desk, ending: Ending) -> None:
    closed = await desk.close(await desk.turn(), Outcome(ending, None, (), "engine away", ()), None)
    assert closed.again_at is not None and closed.again_at > NOW + 2
    assert (closed.more, closed.dead) == (True, False)
    assert await desk.counts() == {"cursors": 1, "notes": 1, "retries": 1, "runs": 1}
    assert len(await desk.rows("SELECT 1 FROM wakeups")) == 1


async def test_after_the_last_try_the_turn_is_a_dead_letter_and_the_cursor_moves(desk: Desk) -> None:
    waits = []
    for attempt in range(1, MOST_ATTEMPTS):
        closed = await desk.close(await desk.turn(attempt), failed(), None)
        assert closed.again_at is not None and not closed.dead
        waits.append(closed.again_at - (NOW + 2))
    assert waits == sorted(set(waits))
    closed = await desk.close(await desk.turn(MOST_ATTEMPTS), failed("no model"), None)
    assert (closed.dead, closed.again_at, closed.more) == (True, None, False)
    (letter,) = await desk.store.read(dead_letters)
    assert (letter.kind, letter.gana, letter.key, letter.reason) == (
        "turn",
        "tide",
        desk.question.id,
        "no model",
    )
    (answered,) = await desk.rows("SELECT ending, author FROM answered")
    assert answered == {"ending": "dead", "author": desk.person.public_key}
    assert await desk.pending() == ()
    assert "retries" not in await desk.counts()


async def test_a_failing_turn_does_not_hold_up_others(desk: Desk) -> None:
    failing = await desk.turn()
    await desk.close(failing, failed(), None)
    await desk.hear("Something else")
    (_, other) = await desk.pending()
    await desk.close(turn(other), said("Yes."), await pinned())
    assert await desk.pending() == failing.notes
    assert await desk.store.read(lambda tx: cursor(tx, "tide", SURFACE)) == failing.notes[0].seq


@pytest.mark.parametrize(
    ("outcome", "spent"),
    [(said("Done."), True), (failed(), False), (Outcome(Ending.SILENT, None, (), "", ()), False)],
)
async def test_only_a_success_spends_a_once_trigger(desk: Desk, outcome: Outcome, spent: bool) -> None:
    once = hosted(trigger="once-on-first-message")
    await desk.close(await desk.turn(), outcome, await pinned() if outcome.body else None, once)
    assert (await desk.store.read(lambda tx: enabled.standing(tx, "tide"))).spent is spent


async def test_every_input_of_a_turn_gets_its_own_decision(desk: Desk) -> None:
    await desk.hear("And low water?")
    closed = await desk.close(await desk.turn(), said("Noon and six."), await pinned())
    rows = await desk.rows("SELECT key, run FROM answered")
    assert {row["run"] for row in rows} == {closed.run}
    assert len(rows) == 2


async def test_a_timer_without_inputs_is_decided_by_its_time(desk: Desk) -> None:
    await desk.close(turn(due=NOW), said("Good morning."), await pinned())
    assert [row["key"] for row in await desk.rows("SELECT key FROM answered")] == [f"due:{NOW}"]
    with pytest.raises(AlreadyDecided):
        await desk.close(turn(due=NOW), said("Good morning."), await pinned("again"))
    assert ALICE not in str(await desk.rows("SELECT * FROM answered"))

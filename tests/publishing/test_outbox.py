from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.publishing.values import NOW, RELAYS, pinned
from uniun_bots.database.migrate import migrate
from uniun_bots.database.store import connect
from uniun_bots.inputs.enabled import pause
from uniun_bots.publishing import outbox
from uniun_bots.publishing.outbox import due_parcels, enqueue, next_due, receipts_of, record, waiting_count
from uniun_bots.relays.fates import read_fate
from uniun_bots.relays.receipt import Fate, Receipt

ONE, TWO = RELAYS
DAY_S = 86_400


@pytest.fixture
def tx(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    with closing(connect(tmp_path / "one.sqlite")) as conn:
        migrate(conn)
        yield conn


async def posted(tx: sqlite3.Connection, text: str = "High water at noon.", gana: str = "tide") -> str:
    mail = await pinned(text)
    enqueue(tx, mail, gana, 1, NOW)
    return mail.event.id


def hear(tx: sqlite3.Connection, event_id: str, relay: str, fate: Fate, at: float = NOW) -> list[str]:
    return record(tx, [Receipt(event_id, relay, fate, f"{fate}: so it is", at)], at)


def fates(tx: sqlite3.Connection, event_id: str) -> dict[str, str]:
    return {row["relay"]: row["fate"] for row in receipts_of(tx, event_id)}


def due(tx: sqlite3.Connection, relay: str, now: float = NOW) -> list[str]:
    return [parcel.event_id for parcel in due_parcels(tx, relay, now, most=64)]


@pytest.mark.parametrize(
    ("accepted", "message", "stays"),
    [
        (False, "blocked: not on the list", False),
        (False, "rate-limited: slow down", True),
        (False, "pow: difficulty 0 is less than 20", False),
        (True, "duplicate: already have this event", False),
        (False, "duplicate: already have this event", False),
        (False, "", True),
        (False, "restricted: members only", False),
        (False, "invalid: created_at is too far off", False),
        (False, "error: database is full", True),
        (False, "auth-required: log in", True),
        (True, "", False),
    ],
)
async def test_what_a_relay_says_decides_whether_it_is_asked_again(
    tx: sqlite3.Connection, accepted: bool, message: str, stays: bool
) -> None:
    """A46: the boolean decides, the prefix says why; the reason is kept."""
    event_id = await posted(tx)
    record(tx, [Receipt(event_id, ONE, read_fate(accepted, message), message, NOW)], NOW)
    assert due(tx, ONE, NOW) == []
    assert due(tx, ONE, NOW + DAY_S) == ([event_id] if stays else [])
    (row,) = [row for row in receipts_of(tx, event_id) if row["relay"] == ONE]
    assert (row["message"], row["attempts"]) == (message, 1)
    assert due(tx, TWO) == [event_id]


async def test_each_relay_gets_the_same_bytes(tx: sqlite3.Connection) -> None:
    mail = await pinned()
    enqueue(tx, mail, "tide", 1, NOW)
    for relay in RELAYS:
        (parcel,) = due_parcels(tx, relay, NOW, most=64)
        assert (parcel.raw, parcel.author) == (mail.event.raw, mail.event.author)


async def test_the_oldest_mail_goes_first(tx: sqlite3.Connection) -> None:
    texts = ["third", "first", "second"]
    for text, at in zip(texts, (3, 1, 2), strict=True):
        enqueue(tx, await pinned(text), "tide", 1, NOW + at)
    raws = [parcel.raw for parcel in due_parcels(tx, ONE, NOW + 9, most=2)]
    assert [b"first" in raws[0], b"second" in raws[1], len(raws)] == [True, True, 2]


async def test_tries_are_spaced_ever_further_and_bounded(
    tx: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("random.uniform", lambda low, high: 0.0)
    event_id = await posted(tx)
    now, gaps = float(NOW), []
    for _ in range(10):
        hear(tx, event_id, ONE, Fate.UNREACHABLE, now)
        again = next_due(tx, ONE)
        assert again is not None
        gaps.append(again - now)
        now = again
    assert gaps == [2, 4, 8, 16, 32, 64, 128, 256, 300, 300]


def test_tries_of_many_hosts_do_not_fall_together() -> None:
    waits = {outbox.backoff_s(Fate.UNREACHABLE, 4) for _ in range(200)}
    assert len(waits) > 150
    assert min(waits) >= 12 and max(waits) <= 20


async def test_mail_that_nobody_took_in_a_day_is_given_up_once(tx: sqlite3.Connection) -> None:
    event_id = await posted(tx)
    assert hear(tx, event_id, ONE, Fate.UNREACHABLE, NOW + DAY_S - 3600) == []
    assert hear(tx, event_id, ONE, Fate.UNREACHABLE, NOW + DAY_S) == []
    assert hear(tx, event_id, TWO, Fate.UNREACHABLE, NOW + DAY_S) == [event_id]
    assert waiting_count(tx) == 0


async def test_one_relay_that_took_it_is_enough(tx: sqlite3.Connection) -> None:
    event_id = await posted(tx)
    assert hear(tx, event_id, ONE, Fate.DUPLICATE) == []
    assert hear(tx, event_id, TWO, Fate.BLOCKED) == []
    assert waiting_count(tx) == 0
    assert fates(tx, event_id) == {ONE: "duplicate", TWO: "blocked"}


async def test_mail_that_every_relay_refuses_is_given_up_at_once(tx: sqlite3.Connection) -> None:
    event_id = await posted(tx)
    assert hear(tx, event_id, ONE, Fate.BLOCKED) == []
    assert hear(tx, event_id, TWO, Fate.POW) == [event_id]


async def test_a_relay_that_is_back_gets_what_waited_for_it(tx: sqlite3.Connection) -> None:
    away, slow = await posted(tx, "away"), await posted(tx, "slow down")
    hear(tx, away, ONE, Fate.UNREACHABLE)
    hear(tx, slow, ONE, Fate.RATE_LIMITED)
    hear(tx, away, TWO, Fate.UNREACHABLE)
    assert due(tx, ONE) == []
    outbox.hurry(tx, ONE, NOW)
    assert due(tx, ONE) == [away]
    assert due(tx, TWO) == [slow]


async def test_mail_of_a_paused_gana_waits(tx: sqlite3.Connection) -> None:
    event_id = await posted(tx)
    others = await posted(tx, "from another", gana="harbour")
    pause(tx, "tide", "paused by a person")
    assert due(tx, ONE) == [others]
    assert not outbox.waiting_now(tx, NOW - 1)
    tx.execute("UPDATE ganas SET paused = NULL")
    assert set(due(tx, ONE)) == {event_id, others}


async def test_mail_that_was_stopped_stays_stopped(tx: sqlite3.Connection) -> None:
    """A retracted post that is on the wire must not be sent again after its own deletion."""
    event_id = await posted(tx)
    tx.execute("UPDATE receipts SET next_at = NULL")
    assert hear(tx, event_id, ONE, Fate.UNANSWERED) == []
    assert next_due(tx, ONE) is None
    assert fates(tx, event_id)[ONE] == "unanswered"


async def test_relays_that_left_the_settings_are_known_by_their_mail(tx: sqlite3.Connection) -> None:
    event_id = await posted(tx)
    hear(tx, event_id, ONE, Fate.ACCEPTED)
    assert outbox.relays_with_mail(tx) == [TWO]

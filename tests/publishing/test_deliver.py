from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.publishing.values import NOW, RELAYS, SIGNER, pinned
from uniun_bots.database.store import Store
from uniun_bots.inputs.enabled import pause, resume
from uniun_bots.publishing.deliver import Delivery
from uniun_bots.publishing.outbox import enqueue, receipts_of
from uniun_bots.relays.receipt import Fate, Receipt

ONE, TWO = RELAYS
GivenUp = Callable[[sqlite3.Connection, Sequence[str]], None]


class StillClock:
    """Stands still until a test moves it; who sleeps is let go by `move`."""

    def __init__(self) -> None:
        self._now = float(NOW)
        self._moved = asyncio.Event()

    def now(self) -> float:
        return self._now

    def move(self, seconds: float) -> None:
        self._now += seconds
        self._moved.set()

    async def sleep_until(self, when: float) -> None:
        while self._now < when:
            self._moved.clear()
            await self._moved.wait()


class Recorder:
    """Takes everything, or says what it was told to say; a relay in `silent` never answers."""

    def __init__(self, clock: StillClock) -> None:
        self.sent: list[tuple[str, bytes, str]] = []
        self.fates: dict[str, Fate] = {}
        self.silent: set[str] = set()
        self.forever: Callable[[], Awaitable[object]] = asyncio.Event().wait
        self._clock = clock

    async def send(self, raw: bytes, relays: Sequence[str], author: str) -> list[Receipt]:
        (relay,) = relays
        self.sent.append((relay, raw, author))
        if relay in self.silent:
            await self.forever()
        event_id = raw.decode().partition('"id":"')[2][:64]
        return [Receipt(event_id, relay, self.fates.get(relay, Fate.ACCEPTED), "", self._clock.now())]

    def to(self, relay: str) -> list[bytes]:
        return [raw for where, raw, _ in self.sent if where == relay]


class Post:
    """A store with an outbox, and deliveries over one recorder."""

    def __init__(self, store: Store) -> None:
        self.store, self.clock = store, StillClock()
        self.recorder = Recorder(self.clock)
        self.given_up: list[str] = []

    def delivery(
        self, relay: str, per_minute: int | None = None, given_up: GivenUp | None = None
    ) -> Delivery:
        return Delivery(relay, self.store, self.recorder, self.clock, given_up or self._give_up, per_minute)

    def _give_up(self, tx: sqlite3.Connection, event_ids: Sequence[str]) -> None:
        assert tx.in_transaction
        self.given_up += event_ids

    async def post(self, text: str, gana: str = "tide", relays: tuple[str, ...] = RELAYS) -> str:
        mail = await pinned(text, relays)
        await self.store.write(lambda tx: enqueue(tx, mail, gana, 1, self.clock.now()))
        return mail.event.id

    async def fates(self, event_id: str) -> dict[str, str]:
        rows = await self.store.read(lambda tx: receipts_of(tx, event_id))
        return {row["relay"]: row["fate"] for row in rows}


@pytest.fixture
async def post(tmp_path: Path) -> AsyncIterator[Post]:
    async with Store(tmp_path / "one.sqlite") as store:
        yield Post(store)


async def test_mail_goes_out_once_and_its_receipt_is_kept(post: Post) -> None:
    event_id = await post.post("High water at noon.")
    one = post.delivery(ONE)
    assert [await one.once(), await one.once()] == [1, 0]
    assert len(post.recorder.sent) == 1
    assert post.recorder.sent[0][2] == SIGNER.public_key
    assert await post.fates(event_id) == {ONE: "accepted", TWO: "waiting"}


async def test_a_silent_relay_holds_up_nobody_else(post: Post) -> None:
    event_id = await post.post("High water at noon.")
    post.recorder.silent.add(ONE)
    stuck = asyncio.ensure_future(post.delivery(ONE).once())
    async with asyncio.timeout(10):
        while not post.recorder.to(ONE):
            await asyncio.sleep(0)
        assert await post.delivery(TWO).once() == 1
    assert await post.fates(event_id) == {ONE: "waiting", TWO: "accepted"}
    stuck.cancel()


async def test_after_a_crash_between_sending_and_writing_it_down_the_same_bytes_go_again(post: Post) -> None:
    await post.post("High water at noon.")
    post.recorder.silent.add(ONE)
    lost = asyncio.ensure_future(post.delivery(ONE).once())
    while not post.recorder.to(ONE):
        await asyncio.sleep(0)
    lost.cancel()
    post.recorder.silent.clear()
    assert await post.delivery(ONE).once() == 1
    first, second = post.recorder.to(ONE)
    assert first == second


async def test_pace_lets_one_event_go_at_a_time(post: Post) -> None:
    for text in ("one", "two", "three"):
        await post.post(text)
    slow = post.delivery(ONE, per_minute=30)
    assert [await slow.once(), await slow.once()] == [1, 0]
    post.clock.move(1.9)
    assert await slow.once() == 0
    post.clock.move(0.1)
    assert [await slow.once(), await slow.once()] == [1, 0]


async def test_without_a_pace_everything_that_waits_goes_at_once(post: Post) -> None:
    for number in range(5):
        await post.post(f"note {number}")
    assert await post.delivery(ONE).once() == 5


async def test_a_relay_that_finds_us_too_fast_is_left_alone_for_a_while(post: Post) -> None:
    await post.post("one")
    post.recorder.fates[ONE] = Fate.RATE_LIMITED
    one = post.delivery(ONE)
    assert await one.once() == 1
    await post.post("two")
    assert await one.once() == 0
    assert await post.delivery(TWO).once() == 2
    post.recorder.fates.clear()
    post.clock.move(4)
    assert [await one.once(), await one.once()] == [1, 1]
    await post.post("three")
    assert await one.once() == 1


async def test_many_refused_at_once_are_one_refusal_and_then_it_goes_by_ones(post: Post) -> None:
    for number in range(20):
        await post.post(f"note {number}")
    post.recorder.fates[ONE] = Fate.RATE_LIMITED
    one = post.delivery(ONE)
    assert await one.once() == 20
    post.recorder.fates.clear()
    post.clock.move(4)
    assert [await one.once() for _ in range(5)] == [1, 2, 4, 8, 5]


async def test_mail_of_a_paused_gana_goes_after_it_is_resumed(post: Post) -> None:
    await post.post("High water at noon.")
    await post.store.write(lambda tx: pause(tx, "tide", "paused by a person"))
    one = post.delivery(ONE)
    assert await one.once() == 0
    await post.store.write(lambda tx: resume(tx, "tide"))
    assert await one.once() == 1


async def test_mail_that_nobody_takes_is_told_once(post: Post) -> None:
    event_id = await post.post("High water at noon.")
    post.recorder.fates = {ONE: Fate.BLOCKED, TWO: Fate.INVALID}
    one, two = post.delivery(ONE), post.delivery(TWO)
    await one.once()
    assert post.given_up == []
    await two.once()
    assert post.given_up == [event_id]
    post.clock.move(100_000)
    assert [await one.once(), await two.once()] == [0, 0]


async def test_what_cannot_be_buried_is_not_written_off(post: Post) -> None:
    """Receipt and dead letter are one commit: a crash between them would leave mail that nobody misses."""
    event_id = await post.post("High water at noon.", relays=(ONE,))
    post.recorder.fates = {ONE: Fate.BLOCKED}
    one = post.delivery(ONE, given_up=refuse)
    with pytest.raises(RuntimeError):
        await one.once()
    assert await post.fates(event_id) == {ONE: "waiting"}


def refuse(tx: sqlite3.Connection, event_ids: Sequence[str]) -> None:
    raise RuntimeError("no room for a dead letter")


async def test_waiting_ends_when_mail_is_due_and_when_it_is_woken(post: Post) -> None:
    await post.post("High water at noon.")
    post.recorder.fates[ONE] = Fate.UNREACHABLE
    one = post.delivery(ONE)
    await one.once()
    waiting = asyncio.ensure_future(one.wait())
    for _ in range(100):
        await asyncio.sleep(0)
    assert not waiting.done()
    async with asyncio.timeout(10):
        while not waiting.done():
            post.clock.move(1)
            await asyncio.sleep(0.001)
        assert await one.once() == 1
        woken = asyncio.ensure_future(one.wait())
        await asyncio.sleep(0)
        one.wake()
        await woken


async def test_a_relay_that_came_back_is_tried_at_once(post: Post) -> None:
    await post.post("High water at noon.")
    post.recorder.fates[ONE] = Fate.UNREACHABLE
    one = post.delivery(ONE)
    await one.once()
    assert await one.once() == 0
    post.recorder.fates.clear()
    await one.hurry()
    assert await one.once() == 1


async def test_what_waits_for_its_ok_is_not_sent_a_second_time_and_holds_up_nothing_else(post: Post) -> None:
    one = post.delivery(ONE)
    await post.post("first", relays=(ONE,))
    post.recorder.silent.add(ONE)
    flying = asyncio.ensure_future(one.once())
    while not post.recorder.sent:
        await asyncio.sleep(0)
    post.recorder.silent.clear()
    assert await one.once() == 0, "the first is on its way already"
    second = await post.post("second", relays=(ONE,))
    assert await one.once() == 1
    assert await post.fates(second) == {ONE: "accepted"}
    assert len(post.recorder.sent) == 2
    flying.cancel()
    await asyncio.wait([flying])
    assert await one.once() == 1, "without an answer it is sent again"


async def test_what_is_written_down_while_another_call_reads_is_not_sent_again(
    post: Post, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = post.delivery(ONE)
    await post.post("first", relays=(ONE,))
    post.recorder.silent.add(ONE)
    answered = asyncio.Event()
    monkeypatch.setattr(post.recorder, "forever", answered.wait)
    flying = asyncio.ensure_future(one.once())
    while not post.recorder.sent:
        await asyncio.sleep(0)
    read = post.store.read

    async def slowly(query: Any) -> Any:
        found = await read(query)
        answered.set()
        await flying
        return found

    monkeypatch.setattr(post.store, "read", slowly)
    assert await one.once() == 0
    assert len(post.recorder.sent) == 1

"""The loops that drive flow.py. Whatever one event or one relay does, a loop goes on."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from types import TracebackType
from typing import Self

from uniun_bots import flow
from uniun_bots.approvals.queue import expire
from uniun_bots.graph import retention
from uniun_bots.host.house import House
from uniun_bots.host.taking import MOST_UNDER_WAY
from uniun_bots.host.tending.profiles import publish_profiles
from uniun_bots.inputs.prune import prune_decided
from uniun_bots.journal.record import bury, prune_runs
from uniun_bots.publishing.deliver import Delivery
from uniun_bots.publishing.outbox import gana_of, relays_with_mail, waiting_now
from uniun_bots.triggers.wakeup import Wakeup

log = logging.getLogger(__name__)

GRACE_S = 7.0
"""What running turns get to end by themselves at shutdown; the rest is abandoned, and taken again at the start."""
LAST_POST_S = 1.5
"""What finished replies get after that to reach their relays."""
LANES = 3
"""Batches that may be on their way to one relay at a time: its answers come slower than we write."""
PRUNE_EVERY_S = 3600.0
PAUSE_AFTER_FAULT_S = 1.0
ANSWER_AGAIN_S = 5.0


class Loops:
    def __init__(self, house: House) -> None:
        self.house = house
        self._stopping = asyncio.Event()
        self._answering: asyncio.Task[None] | None = None
        self._delivering: set[str] = set()
        self._in_flight = 0
        self._herald = asyncio.Lock()

    async def __aenter__(self) -> Self:
        self._group = asyncio.TaskGroup()
        await self._group.__aenter__()
        self._tasks: list[asyncio.Task[None]] = []
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stopping.set()
        if self._answering:
            await asyncio.wait([self._answering], timeout=GRACE_S)
            self._answering.cancel()
        await self._last_post()
        for task in self._tasks:
            task.cancel()
        await self._group.__aexit__(None, None, None)

    def start_receiving(self, relays: Sequence[str]) -> None:
        if not self._tasks:
            self._start(self._forever(lambda: flow.receive(self.house)))
            self._start(self._waking())
        self._deliver_to(relays)

    def start_answering(self) -> None:
        if self._answering is None:
            self._answering = self._start(self._answer_all())
            self._start(self._pruning())
            self._start(self._forever(self.house.remembering.step))
            self._start(self._forever(self.house.reminding.step))
            self._start(self._forever(self.house.skill_watch.step))
            self._start(self._forever(self.house.embedding.step))
            self._start(self._forever(self.house.librarian.step))
            self._start(self._once(self._finish_mail))
        self._start(self._publish_profiles())

    async def kept_up(self) -> None:
        """Until everything that was heard so far is in the store."""
        while self.house.gateway.backlog() or self.house.keeping:
            await asyncio.sleep(0.005)

    async def quiet(self) -> bool:
        """Nothing is being read or waits, no wakeup is due, no turn runs, nothing could be sent now."""
        due = self.house.wakeups.next_at()
        now = self.house.clock.now()
        house = self.house
        if (
            any(relay.reading for relay in house.gateway.status())
            or house.gateway.backlog()
            or house.keeping
            or self._in_flight
            or house.arrived.is_set()
            or house.reminding.busy
            or house.skill_watch.busy
            or (due is not None and due <= now)
        ):
            return False
        return not await self.house.store.read(lambda tx: waiting_now(tx, now))

    def _start(self, loop: Coroutine[None, None, None]) -> asyncio.Task[None]:
        task = self._group.create_task(loop)
        self._tasks.append(task)
        return task

    async def _forever(self, step: Callable[[], Awaitable[object]]) -> None:
        while True:
            try:
                await step()
            except Exception:
                log.exception("a loop met a fault and goes on")
                await asyncio.sleep(PAUSE_AFTER_FAULT_S)

    async def _once(self, step: Callable[[], Awaitable[object]]) -> None:
        try:
            await step()
        except Exception:
            log.exception("a task met a fault")

    async def _waking(self) -> None:
        async def step() -> None:
            await self.house.arrived.wait()
            self.house.arrived.clear()
            self._in_flight += 1
            try:
                await flow.wake(self.house)
            except Exception:
                # What arrived is not matched yet, and nothing else might arrive for long.
                self.house.arrived.set()
                raise
            finally:
                self._in_flight -= 1

        await self._forever(step)

    async def _answer_all(self) -> None:
        """One task for each turn: the scheduler decides who is next, so whoever has something to do stands there."""
        async with asyncio.TaskGroup() as turns:
            beginning = turns.create_task(self._begin_turns(turns))
            await self._stopping.wait()
            beginning.cancel()

    async def _begin_turns(self, turns: asyncio.TaskGroup) -> None:
        places = asyncio.Semaphore(MOST_UNDER_WAY)
        while True:
            await places.acquire()
            wakeup = await self.house.wakeups.next()
            # It counts as under way from where it is taken out: nothing is awaited in between.
            self._in_flight += 1
            turn = turns.create_task(self._answer(wakeup))
            turn.add_done_callback(lambda _: self._leave(places))

    async def _answer(self, wakeup: Wakeup) -> None:
        """A fault outside of a turn, such as a full disk, must not lose the wakeup."""
        try:
            await flow.answer(self.house, wakeup)
        except Exception:
            log.exception("%s on %s met a fault and is tried again", wakeup.gana, wakeup.surface)
            again = self.house.clock.now() + ANSWER_AGAIN_S
            self.house.wakeups.not_later(wakeup.gana, wakeup.surface, again, wakeup.due)

    def _leave(self, places: asyncio.Semaphore) -> None:
        self._in_flight -= 1
        places.release()

    # deliver ------------------------------------------------------------------------------------------

    def _deliver_to(self, relays: Sequence[str]) -> None:
        for url in relays:
            if url in self._delivering:
                continue
            self._delivering.add(url)
            address = self.house.roster.addresses.get(url)
            self.house.deliveries[url] = Delivery(
                url,
                self.house.store,
                self.house.gateway,
                self.house.clock,
                self._give_up,
                address.pace if address else None,
            )
            for _ in range(LANES):
                self._start(self._delivering_to(url))

    async def _delivering_to(self, relay: str) -> None:
        async def step() -> None:
            if not await flow.deliver(self.house, relay):
                await self.house.deliveries[relay].wait()

        await self._forever(step)

    def hurry(self, relay: str) -> None:
        """The relay is back."""
        if relay in self.house.deliveries and not self._stopping.is_set():
            self._start(self._once(self.house.deliveries[relay].hurry))
            if self._answering:
                self._start(self._publish_profiles())

    async def _publish_profiles(self) -> None:
        async with self._herald:
            await self._once(lambda: publish_profiles(self.house))

    async def _finish_mail(self) -> None:
        """Relays that left the settings still get what was promised to them."""
        self._deliver_to(await self.house.store.read(relays_with_mail))

    def _give_up(self, tx: sqlite3.Connection, event_ids: Sequence[str]) -> None:
        now = self.house.clock.now()
        for event_id in event_ids:
            gana, reason = gana_of(tx, event_id), "no relay took it"
            log.error("dead letter: no relay took %s of %s", event_id, gana or "a person")
            bury(tx, kind="delivery", gana=gana, surface="", key=event_id, reason=reason, now=now)

    async def _last_post(self) -> None:
        now = self.house.clock.now()
        try:
            async with asyncio.timeout(LAST_POST_S):
                while await self.house.store.read(lambda tx: waiting_now(tx, now)):
                    await asyncio.sleep(0.05)
        except TimeoutError:
            log.info("stopping: some replies wait in the outbox for the next start")

    # retention ----------------------------------------------------------------------------------------

    async def _pruning(self) -> None:
        async def step() -> None:
            await self.prune()
            await self.house.clock.sleep_until(self.house.clock.now() + PRUNE_EVERY_S)

        await self._forever(step)

    async def prune(self) -> None:
        store, now = self.house.store, self.house.clock.now()
        oldest = now - self.house.settings.keep_notes_s
        runs = await store.write(prune_runs)
        notes = 0
        while pruned := await store.write(lambda tx: retention.prune_notes(tx, oldest)):
            notes += pruned
            if pruned < retention.BATCH:
                break
        decided = await store.write(lambda tx: prune_decided(tx, now, self.house.roster.longest_max_age_s()))
        late = await store.write(lambda tx: expire(tx, now))
        await store.shrink()
        log.debug("pruned: %d runs, %d notes, %d decisions; %d approvals expired", runs, notes, decided, late)

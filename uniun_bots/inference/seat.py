"""One seat: carries out what its policy decides, with tasks that are started and cancelled."""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from uniun_bots.clock import Clock
from uniun_bots.errors import JobCancelled, JobRefused
from uniun_bots.inference.engine import Engine, EngineInfo, Unloadable
from uniun_bots.inference.policy.policy import Policy
from uniun_bots.inference.policy.rules import Rules
from uniun_bots.inference.policy.ticket import Ticket

CLOSING = "the host is closing"
REMEMBERED = 20
"""Preemptions that a snapshot shows."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Preemption:
    at: float
    """Unix seconds."""
    owner: str
    kind: str
    reason: str


@dataclass(slots=True, eq=False)
class Waiter:
    """A caller who waits for one job or one switch."""

    ticket: Ticket
    engine_name: str
    """As the caller wrote it."""
    label: str
    since: float
    work: Callable[[Engine], Coroutine[Any, Any, Any]]
    answer: asyncio.Future[Any]
    task: asyncio.Task[Any] | None = None
    """While it runs."""


class Seat:
    """Engines of which one runs at a time. What its policy calls a model is the name of an engine here."""

    def __init__(
        self,
        name: str,
        engines: Mapping[str, Engine],
        clock: Clock,
        steady: Callable[[], float],
        rules: Rules,
    ) -> None:
        """`steady` gives the seconds that the policy goes by: they never go back and never leap."""
        self.name = name
        self.engines = dict(engines)
        self.policy = Policy(rules)
        self.info: dict[str, EngineInfo] = {}
        self.waiters: dict[Ticket, Waiter] = {}
        self.counters: Counter[str] = Counter()
        self.done: Counter[str] = Counter()
        """By engine name as the caller wrote it; `failed` too."""
        self.failed: Counter[str] = Counter()
        self.preemptions: deque[Preemption] = deque(maxlen=REMEMBERED)
        self.steady = steady
        self._clock = clock
        self._loading: dict[str, asyncio.Task[EngineInfo]] = {}
        self._alarm: asyncio.Task[None] | None = None
        self._alarm_at = 0.0
        self._closed = False

    async def wait_for(
        self,
        ticket: Ticket,
        engine_name: str,
        label: str,
        work: Callable[[Engine], Coroutine[Any, Any, T]],
        until: Callable[[asyncio.Future[T]], Awaitable[T]],
    ) -> T:
        """The answer of `work`, done when the policy says so; `until` waits for it, as long as it likes."""
        answer: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        now = self.steady()
        waiter = Waiter(ticket, engine_name, label, now, work, answer)
        self.waiters[ticket] = waiter
        self.policy.add(ticket, now)
        self.counters["submitted"] += 1
        self.act(now)
        try:
            return await until(answer)
        except BaseException:
            await self._withdraw(waiter)
            raise

    def waiting_count(self) -> int:
        return len(self.waiters) - len(self.policy.running)

    def tier_of(self, ticket: Ticket) -> int:
        return int(self.policy.queues.tier_of(ticket, self.steady()))

    def act(self, at: float | None = None) -> None:
        """Ask the policy and do what it says. `at`: the moment that it was told last, when that is now."""
        if self._closed:
            return
        now = self.steady() if at is None else at
        decision = self.policy.decide(now)
        for ticket in decision.start:
            self._start(self.waiters[ticket])
        for ticket in decision.stop:
            if task := self.waiters[ticket].task:
                task.cancel()
        self._set_alarm(self.policy.next_change(now), now)

    async def aclose(self) -> None:
        """Stop what runs, tell everybody who waits."""
        self._closed = True
        tasks: list[asyncio.Task[Any]] = [waiter.task for waiter in self.waiters.values() if waiter.task]
        for waiter in self.waiters.values():
            if waiter.task is None and not waiter.answer.done():
                waiter.answer.set_exception(JobRefused(CLOSING))
        tasks += self._loading.values()
        if self._alarm:
            tasks.append(self._alarm)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    # one job ------------------------------------------------------------------------------------------

    def _start(self, waiter: Waiter) -> None:
        waiter.task = asyncio.create_task(self._work(waiter))
        waiter.task.add_done_callback(lambda task: self._over(waiter, task))

    async def _work(self, waiter: Waiter) -> Any:
        is_switch = waiter.ticket.kind == "switch"
        engine = self.engines[waiter.ticket.model]
        await self._stop_loading("" if is_switch else waiter.ticket.model)
        await self._take_out_others(waiter.ticket.model)
        if not is_switch:
            await self._bring_in(waiter.ticket.model)
        answer = await waiter.work(engine)
        if is_switch:
            self._know(waiter.ticket.model, answer)
        return answer

    def _over(self, waiter: Waiter, task: asyncio.Task[Any]) -> None:
        """Done, failed or stopped: the slot is free."""
        waiter.task = None
        ticket, now = waiter.ticket, self.steady()
        if task.cancelled() and ticket.gives_way and not waiter.answer.done() and not self._closed:
            self._note_preemption(waiter)
            if ticket.comes_back:
                self.policy.gave_way(ticket, now)
                self.act(now)
                return
        self._tell(waiter, task)
        if ticket.model not in self.info and self.policy.loaded == ticket.model:
            self.policy.loaded = None
        del self.waiters[ticket]
        self.policy.ended(ticket, now)
        self.act(now)

    def _note_preemption(self, waiter: Waiter) -> None:
        ticket = waiter.ticket
        self.counters["preempted"] += 1
        self.preemptions.append(Preemption(self._clock.now(), ticket.owner, ticket.kind, ticket.gives_way))

    def _tell(self, waiter: Waiter, task: asyncio.Task[Any]) -> None:
        answer = waiter.answer
        error = None if task.cancelled() else task.exception()
        if answer.done():
            self._count_failed(waiter)
        elif task.cancelled():
            self._count_failed(waiter)
            why = waiter.ticket.gives_way or "the engine stopped it"
            answer.set_exception(JobRefused(CLOSING) if self._closed else JobCancelled(f"stopped: {why}"))
        elif error:
            self._count_failed(waiter)
            answer.set_exception(error)
        else:
            self.done[waiter.engine_name] += 1
            self.counters["done"] += 1
            answer.set_result(task.result())

    def _count_failed(self, waiter: Waiter) -> None:
        self.failed[waiter.engine_name] += 1
        self.counters["failed"] += 1

    async def _withdraw(self, waiter: Waiter) -> None:
        """The caller wants no answer any more, or has an error already."""
        waiter.answer.cancel()
        if waiter.task:
            waiter.task.cancel()
            await asyncio.wait([waiter.task])
        elif waiter.ticket.waits_in is not None:
            del self.waiters[waiter.ticket]
            self.policy.remove(waiter.ticket, self.steady())
            self.counters["left"] += 1
            self.act()

    # models -------------------------------------------------------------------------------------------

    async def _stop_loading(self, wanted: str) -> None:
        """But of what is wanted now: a chat does not wait for a model that it does not need."""
        others = [loading for other, loading in self._loading.items() if other != wanted]
        for loading in others:
            loading.cancel()
        if others:
            await asyncio.wait(others)

    async def _take_out_others(self, name: str) -> None:
        """Where engines can: the memory of a seat holds one model."""
        for other in [other for other in self.info if other != name]:
            engine = self.engines[other]
            if isinstance(engine, Unloadable):
                del self.info[other]
                self.counters["unloaded"] += 1
                await engine.unload()

    async def _bring_in(self, name: str) -> None:
        """Loading goes on when the job that needed it gives way: whoever is next may need it too."""
        if name in self.info:
            return
        if name not in self._loading:
            self._loading[name] = asyncio.create_task(self.engines[name].load())
            self._loading[name].add_done_callback(lambda task: self._loaded(name, task))
        await asyncio.shield(self._loading[name])

    def _loaded(self, name: str, task: asyncio.Task[EngineInfo]) -> None:
        del self._loading[name]
        if not task.cancelled() and task.exception() is None:
            self._know(name, task.result())

    def _know(self, name: str, info: EngineInfo) -> None:
        self.info[name] = info
        if self.policy.slots_of.get(name) != info.slots:
            self.policy.slots_of[name] = info.slots
            self.act()

    # time ---------------------------------------------------------------------------------------------

    def _set_alarm(self, at: float | None, now: float) -> None:
        if at is None or (self._alarm and not self._alarm.done() and self._alarm_at <= at):
            return
        if self._alarm:
            self._alarm.cancel()
        self._alarm_at = at
        self._alarm = asyncio.create_task(self._ring(self._clock.now() + at - now))

    async def _ring(self, when: float) -> None:
        await self._clock.sleep_until(when)
        self._alarm = None
        self.act()

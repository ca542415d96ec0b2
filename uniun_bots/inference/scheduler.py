"""The one way to an engine. docs/scheduler.md has the rules; `policy` holds them, `seat.py` carries them out."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any, TypeVar

from uniun_bots.clock import Clock, WallClock, monotonic
from uniun_bots.errors import EngineError, JobOverdue, JobRefused, NotFound
from uniun_bots.inference.completion import Completion
from uniun_bots.inference.engine import Engine, EngineInfo, Seated, Switchable
from uniun_bots.inference.health import EngineHealth, Reporting
from uniun_bots.inference.job import Job
from uniun_bots.inference.policy.rules import Rules
from uniun_bots.inference.policy.ticket import Ticket
from uniun_bots.inference.seat import CLOSING, Seat
from uniun_bots.inference.seat_status import in_line, seat_status

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class EngineStatus:
    name: str
    model: str | None
    """None until it was loaded."""
    slots: int
    running: tuple[str, ...]
    """Ganas whose jobs run now; a job of another kind by its kind."""
    waiting: tuple[str, ...]
    """Ganas whose jobs wait, next first."""
    done: int
    failed: int
    health: EngineHealth | None = None
    """Of engines that know."""


class Scheduler:
    def __init__(
        self,
        engines: Mapping[str, Engine],
        *,
        clock: Clock | None = None,
        steady: Callable[[], float] | None = None,
        rules: Rules | None = None,
        most_waiting: int = 10_000,
        most_waiting_per_gana: int = 100,
    ) -> None:
        """`steady` measures how long things take; without one, the system's for a wall clock, else `clock`."""
        self._clock = clock or WallClock()
        self._steady = steady or (monotonic if isinstance(self._clock, WallClock) else self._clock.now)
        self._most_waiting = most_waiting
        self._most_per_gana = most_waiting_per_gana
        self._refused: Counter[str] = Counter()
        self._closed = False
        self._own_names = _first_names(engines)
        self._seats = self._make_seats(engines, rules or Rules())

    async def __aenter__(self) -> Scheduler:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def submit(self, job: Job) -> Completion:
        """The answer, however long the queue and however often it has to give way.

        Cancelling the caller takes the job out or stops the model. Raises NotFound for an unknown engine,
        JobRefused, JobOverdue, JobCancelled, and what the engine raises. What it did not spend in the engine is
        the answer's `waiting_ms`.
        """
        began = self._steady()
        seat = self._seat(job.engine_name)
        self._refuse_beyond_bounds(job.owner)
        due = None if job.due is None else job.due - self._clock.now() + self._steady()
        model = self._own_names[job.engine_name]
        ticket = Ticket(job.kind, job.owner, model, due=due, foreground=job.foreground)
        completion = await seat.wait_for(
            ticket,
            job.engine_name,
            job.gana,
            lambda engine: _generate(engine, job, seat.tier_of(ticket)),
            lambda answer: self._before(job.deadline, job.gana, answer),
        )
        waited_s = self._steady() - began - completion.seconds
        return replace(completion, waiting_ms=max(0.0, 1000 * waited_s))

    async def switch(self, engine_name: str, model: str, *, forced: bool = False) -> EngineInfo:
        """Let this engine run another model. A gentle one waits for what runs, a forced one stops it.

        Raises what loading raises, and EngineError for an engine that cannot change its model.
        """
        seat = self._seat(engine_name)
        if self._closed:
            raise JobRefused(CLOSING)
        own_name = self._own_names[engine_name]
        engine = seat.engines[own_name]
        if not isinstance(engine, Switchable):
            raise EngineError(f"the engine `{engine_name}` cannot change its model")
        use = engine.use
        return await seat.wait_for(
            Ticket("switch", "switch", own_name, forced=forced),
            engine_name,
            model,
            lambda _: use(model),
            lambda answer: self._before(None, model, answer),
        )

    @contextlib.asynccontextmanager
    async def chat_turn(self, engine_name: str = "default") -> AsyncIterator[None]:
        """From a person's question to the last word of the answer: background work stands back."""
        seat = self._seat(engine_name)
        seat.policy.begin_chat()
        seat.act()
        try:
            yield
        finally:
            seat.policy.end_chat(self._steady())
            seat.act()

    def set_foreground(self, gana: str | None) -> None:
        """The Gana whose screen a person has in front; None when there is none."""
        for seat in self._seats.values():
            seat.policy.set_foreground(gana, self._steady())
            seat.act()

    def status(self) -> tuple[EngineStatus, ...]:
        return tuple(self._engine_status(name) for name in self._own_names)

    def snapshot(self) -> dict[str, Any]:
        """Everything that decides what runs next, as plain JSON values."""
        return {
            "refused": dict(self._refused),
            "seats": [seat_status(seat) for seat in self._seats.values()],
        }

    async def aclose(self) -> None:
        """Stop what runs, tell everybody who waits. The engines stay open: they belong to who made them."""
        self._closed = True
        await asyncio.gather(*(seat.aclose() for seat in self._seats.values()))

    def _make_seats(self, engines: Mapping[str, Engine], rules: Rules) -> dict[str, Seat]:
        """One for each engine, but one for all that have to share it."""
        members: dict[str, dict[str, Engine]] = {}
        for name in dict.fromkeys(self._own_names.values()):
            engine = engines[name]
            seat = engine.seat if isinstance(engine, Seated) else f"engine {name}"
            members.setdefault(seat, {})[name] = engine
        return {seat: Seat(seat, own, self._clock, self._steady, rules) for seat, own in members.items()}

    def _seat(self, engine_name: str) -> Seat:
        if engine_name not in self._own_names:
            known = ", ".join(sorted(self._own_names)) or "none"
            raise NotFound(f"there is no engine `{engine_name}`; host.yaml knows: {known}")
        own_name = self._own_names[engine_name]
        return next(seat for seat in self._seats.values() if own_name in seat.engines)

    def _refuse_beyond_bounds(self, owner: str) -> None:
        seats = self._seats.values()
        if self._closed:
            raise JobRefused(CLOSING)
        if (waiting := sum(seat.waiting_count() for seat in seats)) >= self._most_waiting:
            self._refused["all"] += 1
            raise JobRefused(f"{waiting} jobs wait for a model already")
        if (own := sum(seat.policy.queues.count_of(owner) for seat in seats)) >= self._most_per_gana:
            self._refused[owner] += 1
            raise JobRefused(f"{own} jobs of {owner} wait for a model already")

    def _engine_status(self, name: str) -> EngineStatus:
        seat, own_name = self._seat(name), self._own_names[name]
        info = seat.info.get(own_name)
        mine = [waiter for waiter in seat.waiters.values() if waiter.engine_name == name]
        return EngineStatus(
            name=name,
            model=info.model if info else None,
            slots=info.slots if info else 1,
            running=tuple(waiter.ticket.owner for waiter in mine if waiter.ticket in seat.policy.running),
            waiting=tuple(
                ticket.owner for ticket in in_line(seat) if seat.waiters[ticket].engine_name == name
            ),
            done=seat.done[name],
            failed=seat.failed[name],
            health=engine.health() if isinstance(engine := seat.engines[own_name], Reporting) else None,
        )

    async def _before(self, deadline: float | None, whose: str, answer: asyncio.Future[T]) -> T:
        if deadline is None:
            return await answer
        alarm = asyncio.create_task(self._clock.sleep_until(deadline))
        try:
            either: tuple[asyncio.Future[Any], ...] = (answer, alarm)
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        finally:
            alarm.cancel()
        if not answer.done():
            raise JobOverdue(f"no answer for {whose} before its deadline")
        return answer.result()


def _generate(engine: Engine, job: Job, tier: int) -> Coroutine[Any, Any, Completion]:
    work = engine.generate(replace(job.request, tier=tier), job.on_piece)
    return job.allowance.spend(work, job.gana) if job.allowance else work


def _first_names(engines: Mapping[str, Engine]) -> dict[str, str]:
    """An engine that has several names goes by its first one."""
    first: dict[int, str] = {}
    return {name: first.setdefault(id(engine), name) for name, engine in engines.items()}

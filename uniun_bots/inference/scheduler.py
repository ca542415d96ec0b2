"""The one way to an engine: first come, first served, as many side by side as it has slots."""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, TypeVar

from uniun_bots.clock import Clock, WallClock
from uniun_bots.errors import JobOverdue, JobRefused, NotFound
from uniun_bots.inference.completion import Completion
from uniun_bots.inference.engine import Engine
from uniun_bots.inference.job import Job

CLOSING = "the host is closing"
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class EngineStatus:
    name: str
    model: str | None
    """None until it was loaded."""
    slots: int
    running: tuple[str, ...]
    """Ganas whose jobs run now."""
    waiting: tuple[str, ...]
    """Ganas whose jobs wait, next first."""
    done: int
    failed: int


@dataclass(slots=True)
class _Lane:
    name: str
    engine: Engine
    model: str | None = None
    slots: int = 1
    running: dict[asyncio.Task[Completion], Job] = field(default_factory=dict)
    entered: int = 0
    """Jobs that hold a slot, whether or not their task has begun."""
    waiting: deque[tuple[Job, asyncio.Future[None]]] = field(default_factory=deque)
    done: int = 0
    failed: int = 0

    def admit(self) -> None:
        while self.waiting and self.entered < self.slots:
            _, turn = self.waiting.popleft()
            if not turn.done():
                self.entered += 1
                turn.set_result(None)

    def leave(self) -> None:
        self.entered -= 1
        self.admit()


class Scheduler:
    def __init__(
        self,
        engines: Mapping[str, Engine],
        *,
        clock: Clock | None = None,
        most_waiting: int = 10_000,
        most_waiting_per_gana: int = 100,
    ) -> None:
        self._clock = clock or WallClock()
        self._lanes = {name: _Lane(name, engine) for name, engine in engines.items()}
        self._most_waiting = most_waiting
        self._most_per_gana = most_waiting_per_gana
        self._queued: Counter[str] = Counter()
        self._closed = False

    async def __aenter__(self) -> Scheduler:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def submit(self, job: Job) -> Completion:
        """The answer, however long the queue. Cancelling the caller takes the job out or stops the model.

        Raises NotFound for an unknown engine, JobRefused, JobOverdue, and what the engine raises.
        """
        lane = self._lane(job.engine_name)
        self._refuse_beyond_bounds(job)
        await self._enter(lane, job)
        try:
            return await self._run(lane, job)
        finally:
            lane.leave()

    def status(self) -> tuple[EngineStatus, ...]:
        return tuple(
            EngineStatus(
                name=lane.name,
                model=lane.model,
                slots=lane.slots,
                running=tuple(job.gana for job in lane.running.values()),
                waiting=tuple(job.gana for job, _ in lane.waiting),
                done=lane.done,
                failed=lane.failed,
            )
            for lane in self._lanes.values()
        )

    async def aclose(self) -> None:
        """Stop what runs, tell everybody who waits. The engines stay open: they belong to who made them."""
        self._closed = True
        tasks = [task for lane in self._lanes.values() for task in lane.running]
        for lane in self._lanes.values():
            while lane.waiting:
                _, turn = lane.waiting.popleft()
                if not turn.done():
                    turn.set_exception(JobRefused(CLOSING))
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    def _lane(self, name: str) -> _Lane:
        if name not in self._lanes:
            known = ", ".join(sorted(self._lanes)) or "none"
            raise NotFound(f"there is no engine `{name}`; host.yaml knows: {known}")
        return self._lanes[name]

    def _refuse_beyond_bounds(self, job: Job) -> None:
        if self._closed:
            raise JobRefused(CLOSING)
        if (waiting := sum(len(lane.waiting) for lane in self._lanes.values())) >= self._most_waiting:
            raise JobRefused(f"{waiting} jobs wait for a model already")
        if (own := self._queued[job.gana]) >= self._most_per_gana:
            raise JobRefused(f"{own} jobs of {job.gana} wait for a model already")

    async def _enter(self, lane: _Lane, job: Job) -> None:
        """Return when the job holds a slot."""
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        entry = (job, turn)
        lane.waiting.append(entry)
        lane.admit()
        self._queued[job.gana] += 1
        try:
            await self._before_deadline(job, turn)
        except BaseException:
            if entry in lane.waiting:
                lane.waiting.remove(entry)
            elif not turn.cancelled() and turn.exception() is None:
                # The slot was handed over in the same moment as the caller went away.
                lane.leave()
            raise
        finally:
            self._queued[job.gana] -= 1
            if not self._queued[job.gana]:
                del self._queued[job.gana]

    async def _run(self, lane: _Lane, job: Job) -> Completion:
        if self._closed:
            raise JobRefused(CLOSING)
        task = asyncio.create_task(self._generate(lane, job))
        lane.running[task] = job
        try:
            completion = await self._before_deadline(job, task)
        except BaseException as error:
            lane.failed += 1
            task.cancel()
            await asyncio.wait([task])
            if isinstance(error, asyncio.CancelledError) and self._closed and not _caller_is_cancelled():
                raise JobRefused(CLOSING) from error
            raise
        finally:
            del lane.running[task]
        lane.done += 1
        return completion

    async def _generate(self, lane: _Lane, job: Job) -> Completion:
        if lane.model is None:
            info = await lane.engine.load()
            lane.model, lane.slots = info.model, info.slots
            lane.admit()
        return await lane.engine.generate(job.request)

    async def _before_deadline(self, job: Job, work: asyncio.Future[T]) -> T:
        if job.deadline is None:
            return await work
        alarm = asyncio.create_task(self._clock.sleep_until(job.deadline))
        try:
            either: tuple[asyncio.Future[Any], ...] = (work, alarm)
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        finally:
            alarm.cancel()
        if not work.done():
            raise JobOverdue(f"no answer for {job.gana} before its deadline")
        return work.result()


def _caller_is_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0

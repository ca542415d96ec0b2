"""The embedded engine: llama.cpp in a process of its own, which may die without harm."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path

from uniun_bots.clock import monotonic
from uniun_bots.errors import EngineLost, LoadFailed
from uniun_bots.inference.completion import Completion
from uniun_bots.inference.engine import EngineInfo, OnPiece
from uniun_bots.inference.health import EngineHealth
from uniun_bots.inference.llama.counter import Counter
from uniun_bots.inference.llama.protocol import Done, Generate, Load
from uniun_bots.inference.llama.totals import Totals
from uniun_bots.inference.llama.worker_process import WorkerProcess
from uniun_bots.inference.model_reference import find_model
from uniun_bots.inference.request import Message, Request

CONTEXT_TOKENS = 4096
STALL_S = 120.0
"""A worker that gives no sign of life for so long (no slice, no token) is killed."""
CANCEL_S = 2.0
STATE_BYTES = 512 * 10**6
BACKOFF_S = 1.0
LONGEST_BACKOFF_S = 30.0


class LlamaEngine:
    """Starts its worker at the first request, and again at the next one after it died.

    The first restart is at once; while it keeps dying without an answer in between, after 1, 2, 4 … 30 s.
    """

    seat = "llama"
    """All of them share one: one model runs at a time."""

    def __init__(
        self,
        reference: str,
        *,
        base: Path | None = None,
        models: Path | None = None,
        context_tokens: int | None = None,
        threads: int | None = None,
        state_bytes: int = STATE_BYTES,
        stall_s: float = STALL_S,
        cancel_s: float = CANCEL_S,
        backoff_s: float = BACKOFF_S,
    ) -> None:
        """`base` is where a relative `path:` starts, `models` where pulled ones lie.

        The context is never larger than the model's own.

        `state_bytes` bounds the copies of prompts read before, which are not read again.
        """
        self.reference = reference
        self.starts = 0
        """Worker processes started so far."""
        self._base, self._models = base or Path(), models
        self._context_tokens = context_tokens or CONTEXT_TOKENS
        self._threads = threads
        self.state_bytes = state_bytes
        self._stall_s = stall_s
        self._cancel_s = cancel_s
        self._worker: WorkerProcess | None = None
        self._info: EngineInfo | None = None
        self._backoff_s = backoff_s
        self._deaths = 0
        """Since the last answer."""
        self._all_deaths = 0
        self._last_death: str | None = None
        self._totals = Totals()
        self._not_before = 0.0
        # Seen on virtual machines: AMX is announced, llama.cpp uses it, and dies of SIGILL.
        self._plain = False
        self._numbers = count(1)
        self._starting = asyncio.Lock()
        self._generating = asyncio.Lock()
        self._closing = asyncio.Event()
        self.counter = Counter(self._as_load, stall_s, cancel_s)

    @property
    def worker_pid(self) -> int | None:
        return None if self._worker is None or self._worker.is_dead else self._worker.pid

    @property
    def is_plain(self) -> bool:
        """Whether this processor turned out not to run the special weight layouts that it announces."""
        return self._plain

    async def load(self) -> EngineInfo:
        await self._ready()
        if self._info is None:
            raise EngineLost(f"the engine of {self.reference} is closed")
        return self._info

    async def info(self) -> EngineInfo:
        return EngineInfo(self.reference, await self.counter.context_tokens(), slots=1)

    async def count(self, messages: Sequence[Message]) -> int:
        """By the model's vocabulary, in a process of its own: also while a request runs, or another model does."""
        return await self.counter.count(messages)

    async def generate(self, request: Request, on_piece: OnPiece | None = None) -> Completion:
        async with self._generating:
            worker = await self._ready()
            number = next(self._numbers)
            try:
                answer = await worker.ask(Generate(number, request), self._stall_s, on_piece)
            except asyncio.CancelledError:
                self._totals.add(await worker.cancel(number, self._cancel_s), cancelled=True)
                raise
        if not isinstance(answer, Done):
            raise TypeError(f"Generate was answered by {answer}")
        self._deaths = 0
        self._totals.add(answer.counts)
        return Completion(
            text=answer.text,
            finish=answer.finish,
            model=self.reference,
            prompt_tokens=answer.counts.prompt_tokens,
            reused_tokens=answer.counts.reused_tokens,
            evaluated_tokens=answer.counts.evaluated_tokens,
            generated_tokens=answer.counts.generated_tokens,
            seconds=answer.seconds,
            reuse_ms=answer.counts.reuse_ms,
            evaluate_ms=answer.counts.evaluate_ms,
            generate_ms=answer.counts.generate_ms,
        )

    async def use(self, model: str) -> EngineInfo:
        """Run another model from now on; what runs is waited for. When it cannot be loaded the old one stays."""
        await asyncio.to_thread(self._find, model)
        async with self._generating:
            before, self.reference = self.reference, model
            await self._let_go()
            try:
                return await self.load()
            except BaseException:
                self.reference, self._deaths, self._not_before = before, 0, 0.0
                await self._let_go()
                raise

    async def _let_go(self) -> None:
        await self.unload()
        await self.counter.forget()

    async def unload(self) -> None:
        async with self._starting:
            # Gone before it is waited for: an unload that is cancelled is no death.
            worker, self._worker = self._worker, None
            if worker is not None:
                self._totals.forget_kept()
                await worker.aclose(self._cancel_s)

    async def aclose(self) -> None:
        self._closing.set()
        await self.counter.aclose()
        await self.unload()

    def health(self) -> EngineHealth:
        worker = self._worker
        died = str(worker.lost()) if worker is not None and worker.is_dead else None
        if died:
            self._totals.forget_kept()
        return self._totals.health(
            starts=self.starts,
            deaths=self._all_deaths + (died is not None),
            last_death=died or self._last_death,
            resting_s=max(0.0, self._not_before - monotonic()),
        )

    async def _ready(self) -> WorkerProcess:
        """A living worker with its model loaded."""
        async with self._starting:
            if self._worker is not None and self._worker.is_dead:
                await self._worker.wait()
                self._note_death(self._worker.lost())
                self._worker = None
            if self._worker is None:
                await self._back_off()
            if self._closing.is_set():
                raise EngineLost(f"the engine of {self.reference} is closed")
            if self._worker is None:
                self._worker = await self._start()
            return self._worker

    def _note_death(self, lost: EngineLost) -> None:
        self._all_deaths += 1
        self._last_death = str(lost)
        self._totals.forget_kept()
        self._plain = self._plain or lost.signal == signal.SIGILL
        if self._deaths:
            wait_s = self._backoff_s * 2.0 ** min(self._deaths - 1, 10)
            self._not_before = monotonic() + min(wait_s, LONGEST_BACKOFF_S)
        self._deaths += 1

    async def _back_off(self) -> None:
        if (wait_s := self._not_before - monotonic()) > 0:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._closing.wait(), wait_s)

    def _find(self, reference: str) -> Path:
        return find_model(reference, self._base, self._models).resolve()

    async def _as_load(self) -> Load:
        path = await asyncio.to_thread(self._find, self.reference)
        return Load(str(path), self._context_tokens, self._threads, self._plain, self.state_bytes)

    async def _start(self) -> WorkerProcess:
        """Raises ModelNotFound, ModelUnusable, LoadFailed."""
        load = await self._as_load()
        self.starts += 1
        try:
            worker, loaded = await WorkerProcess.start(load, self._stall_s)
        except EngineLost as lost:
            was_plain = self._plain
            self._note_death(lost)
            if was_plain or not self._plain:
                raise LoadFailed(f"{self.reference} could not be loaded: {lost}") from lost
            return await self._start()
        self._info = EngineInfo(model=self.reference, context_tokens=loaded.context_tokens, slots=1)
        return worker

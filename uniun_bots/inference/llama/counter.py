"""Counting tokens, seen from the host: beside the seat, without the model in memory, and never behind a request."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from itertools import count

from uniun_bots.errors import EngineLost
from uniun_bots.inference.llama.protocol import Count, Counted, Load, Loaded
from uniun_bots.inference.llama.worker_process import COUNTING, WorkerProcess
from uniun_bots.inference.request import Message


class Counter:
    """Starts its process at the first question, and again at the next one after it died."""

    def __init__(self, load: Callable[[], Awaitable[Load]], stall_s: float, patience_s: float) -> None:
        """`load` tells the model as it is when the process starts; `patience_s` is what it gets to leave."""
        self._load, self._stall_s, self._patience_s = load, stall_s, patience_s
        self._process: WorkerProcess | None = None
        self._loaded: Loaded | None = None
        self._numbers = count(1)
        self._one_at_a_time = asyncio.Lock()
        self._closed = False

    @property
    def pid(self) -> int | None:
        return None if self._process is None or self._process.is_dead else self._process.pid

    async def context_tokens(self) -> int:
        """Raises ModelNotFound, ModelUnusable, EngineLost."""
        async with self._one_at_a_time:
            if self._loaded is None:
                await self._ready()
            return self._loaded.context_tokens if self._loaded else 0

    async def count(self, messages: Sequence[Message]) -> int:
        """A count is no work that could be lost: when the process dies, the next one is asked."""
        async with self._one_at_a_time:
            try:
                return await self._ask(messages)
            except EngineLost:
                return await self._ask(messages)

    async def forget(self) -> None:
        """The model is another one now; a count under way is finished first."""
        async with self._one_at_a_time:
            await self._end()

    async def aclose(self) -> None:
        self._closed = True
        if self._process is not None:
            self._process.kill("the host is closing")
        async with self._one_at_a_time:
            await self._end()

    async def _ask(self, messages: Sequence[Message]) -> int:
        process = await self._ready()
        answer = await process.ask(Count(next(self._numbers), tuple(messages)), self._stall_s)
        if not isinstance(answer, Counted):
            raise TypeError(f"Count was answered by {answer}")
        return answer.tokens

    async def _ready(self) -> WorkerProcess:
        if self._process is not None and self._process.is_dead:
            await self._process.wait()
            self._process = None
        if self._closed:
            raise EngineLost("the engine is closed")
        if self._process is None:
            self._process, self._loaded = await WorkerProcess.start(
                await self._load(), self._stall_s, COUNTING
            )
        return self._process

    async def _end(self) -> None:
        process, self._process, self._loaded = self._process, None, None
        if process is not None:
            await process.aclose(self._patience_s)

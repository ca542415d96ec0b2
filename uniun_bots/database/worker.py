"""A thread for one connection: what gathered while it was busy is served together."""

from __future__ import annotations

import asyncio
import queue
import sqlite3
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

MOST_UNITS = 256
"""That are served together; bounds how long the first of them waits."""


@dataclass(frozen=True, slots=True)
class Waiting:
    unit: Callable[[sqlite3.Connection], Any]
    future: asyncio.Future[Any]


class Worker:
    """Made on the event loop that asks it."""

    def __init__(self, name: str, serve: Callable[[list[Waiting]], None]) -> None:
        """`serve` runs in the thread, and calls `tell` for each of the units it was given."""
        self._loop = asyncio.get_running_loop()
        self._waiting: queue.SimpleQueue[Waiting | None] = queue.SimpleQueue()
        self._serve = serve
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)
        self._thread.start()

    def ask(self, unit: Callable[[sqlite3.Connection], Any]) -> asyncio.Future[Any]:
        future: asyncio.Future[Any] = self._loop.create_future()
        self._waiting.put(Waiting(unit, future))
        return future

    def tell(self, batch: Sequence[Waiting], results: Sequence[Any]) -> None:
        """From the thread. A result that is an exception is raised where the answer is awaited."""
        self._loop.call_soon_threadsafe(_answer, batch, results)

    async def stop(self) -> None:
        """After everything that was asked before."""
        self._waiting.put(None)
        await asyncio.to_thread(self._thread.join)

    def _work(self) -> None:
        stopping = False
        while not stopping:
            batch, stopping = self._gathered()
            if batch:
                self._served(batch)

    def _served(self, batch: list[Waiting]) -> None:
        """A thread that ended would leave everybody waiting."""
        try:
            self._serve(batch)
        except Exception as fault:
            self.tell(batch, [fault] * len(batch))

    def _gathered(self) -> tuple[list[Waiting], bool]:
        """At least one, and whether the end was asked for."""
        batch: list[Waiting] = []
        first = self._waiting.get()
        while first is not None:
            batch.append(first)
            if len(batch) == MOST_UNITS or self._waiting.empty():
                return batch, False
            first = self._waiting.get()
        return batch, True


def _answer(batch: Sequence[Waiting], results: Sequence[Any]) -> None:
    for waiting, result in zip(batch, results, strict=True):
        if waiting.future.done():
            continue
        if isinstance(result, Exception):
            waiting.future.set_exception(result)
        else:
            waiting.future.set_result(result)

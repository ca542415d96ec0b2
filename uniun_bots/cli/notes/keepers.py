"""Who keeps the notes of an import: the command itself under the lease, or the host that runs."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Collection
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Any, Protocol, TypeVar

from uniun_bots.clock import WallClock
from uniun_bots.database.read_file import read_file
from uniun_bots.database.store import FILE, Store
from uniun_bots.graph.find import known_ids
from uniun_bots.graph.import_dump import Taken
from uniun_bots.graph.imports import Mark, forget_mark, import_mark, keep_batch
from uniun_bots.host.control.ask import ask_host
from uniun_bots.nostr.event import Event

T = TypeVar("T")


class Keeper(Protocol):
    def opened(self) -> AbstractAsyncContextManager[object]: ...
    async def mark(self, file: str) -> Mark | None: ...
    async def known(self, ids: Collection[str]) -> set[str]: ...
    async def take(self, events: list[Event], mark: Mark | None) -> Taken: ...
    async def through(self, file: str) -> None: ...


class Alone:
    """Writes by itself, under the lease."""

    def __init__(self, where: Path) -> None:
        self._store = Store(where / FILE)

    def opened(self) -> AbstractAsyncContextManager[object]:
        return self._store

    async def mark(self, file: str) -> Mark | None:
        return await self._store.read(lambda tx: import_mark(tx, file))

    async def known(self, ids: Collection[str]) -> set[str]:
        return await self._store.read(lambda tx: known_ids(tx, ids))

    async def take(self, events: list[Event], mark: Mark | None) -> Taken:
        now = WallClock().now()
        kept = await self._store.write(lambda tx: keep_batch(tx, events, now, mark))
        return Taken(len(kept.new), kept.expired)

    async def through(self, file: str) -> None:
        await self._store.write(lambda tx: forget_mark(tx, file))


class ThroughHost:
    """Reads beside the running host, and hands it what is to be kept."""

    def __init__(self, where: Path) -> None:
        self._where = where

    def opened(self) -> AbstractAsyncContextManager[object]:
        return nullcontext()

    async def mark(self, file: str) -> Mark | None:
        return await self._read(lambda tx: import_mark(tx, file))

    async def known(self, ids: Collection[str]) -> set[str]:
        return await self._read(lambda tx: known_ids(tx, ids))

    async def take(self, events: list[Event], mark: Mark | None) -> Taken:
        texts = [event.raw.decode() for event in events]
        answer = await self._ask({"events": texts, "mark": asdict(mark) if mark else None})
        return Taken(answer["new"], answer["expired"])

    async def through(self, file: str) -> None:
        await self._ask({"through": file})

    async def _read(self, query: Callable[[sqlite3.Connection], T]) -> T:
        return await asyncio.to_thread(read_file, self._where / FILE, query)

    async def _ask(self, asked: dict[str, Any]) -> Any:
        return await ask_host(self._where, "POST", "/notes/import", asked)

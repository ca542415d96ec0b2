"""One SQLite file, one writing thread, one reading thread.

A write is a *unit*: a plain function over the connection. Units queue up for the one writer, which takes what
has gathered into one transaction (each unit behind its own savepoint) and answers them all after one commit.
So a unit is atomic and durable when its await returns, it cannot interleave with another, and no cursor stays
open across an await.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import queue
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar
from urllib.parse import quote

from uniun_bots.database.migrate import migrate
from uniun_bots.errors import StoreError

log = logging.getLogger(__name__)

T = TypeVar("T")
Unit = Callable[[sqlite3.Connection], T]

MOST_UNITS = 256
"""Units that may share one transaction; bounds how long the first of them waits."""


SHRINK_WAIT_MS = 200

_DISK_FAULTS = (
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_NOMEM,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_CORRUPT,
)


@dataclass(frozen=True, slots=True)
class _Waiting:
    unit: Unit[Any]
    future: asyncio.Future[Any]


def connect(path: Path, *, read_only: bool = False) -> sqlite3.Connection:
    """Raises StoreError when the file cannot be opened or is not a database."""
    try:
        mode = "ro" if read_only else "rwc"
        conn = sqlite3.connect(  # noqa: TID251
            f"file:{quote(str(path))}?mode={mode}",
            uri=True,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=256,
        )
        conn.row_factory = sqlite3.Row
        for pragma in (
            "busy_timeout=5000",
            "temp_store=memory",
            "cache_size=-8000",
            *(() if read_only else ("journal_mode=WAL", "synchronous=FULL", "journal_size_limit=67108864")),
        ):
            conn.execute(f"PRAGMA {pragma}")
        return conn
    except sqlite3.Error as fault:
        raise StoreError(f"cannot open {path}: {fault}") from fault


class Store:
    """`async with Store(path) as store`; `write` and `read` take functions of a connection."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._waiting: queue.SimpleQueue[_Waiting | None] = queue.SimpleQueue()
        self._readers = ThreadPoolExecutor(max_workers=1, thread_name_prefix="store-reader")
        self._closed = False

    async def __aenter__(self) -> Self:
        await asyncio.to_thread(self._open)
        self._loop = asyncio.get_running_loop()
        self._thread = threading.Thread(target=self._write_all, name="store-writer", daemon=True)
        self._thread.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closed = True
        self._waiting.put(None)
        await asyncio.to_thread(self._thread.join)
        await asyncio.to_thread(self._readers.shutdown)
        self._reader.close()
        await asyncio.to_thread(self._close_writer)

    def _open(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        if not self.path.exists():
            # The graph holds what people wrote and what we are about to say: for the owner's eyes only.
            os.close(os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600))
        self._writer = connect(self.path)
        migrate(self._writer)
        self._reader = connect(self.path, read_only=True)

    def _close_writer(self) -> None:
        with contextlib.suppress(sqlite3.OperationalError):
            self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self._writer.close()

    async def write(self, unit: Unit[T]) -> T:
        """Run `unit` in a transaction; returns after the commit is on disk.

        Whatever the unit raises is raised here, and nothing of it stays. A commit that fails (disk full) is a
        StoreError, and nothing of any unit in it stays.
        """
        if self._closed:
            raise StoreError(f"{self.path} is closed")
        future: asyncio.Future[T] = self._loop.create_future()
        self._waiting.put(_Waiting(unit, future))
        # The unit is on its way: a cancelled caller must not leave anyone unsure whether it committed.
        return await asyncio.shield(future)

    async def read(self, query: Unit[T]) -> T:
        """Run `query` on a consistent snapshot that is at least as new as the last finished write."""
        return await self._loop.run_in_executor(self._readers, self._read, query)

    def _read(self, query: Unit[T]) -> T:
        self._reader.execute("BEGIN")
        try:
            return query(self._reader)
        finally:
            self._reader.execute("ROLLBACK")

    def _write_all(self) -> None:
        stopping = False
        while not stopping:
            batch: list[_Waiting] = []
            first = self._waiting.get()
            while first is not None:
                batch.append(first)
                if len(batch) == MOST_UNITS:
                    break
                try:
                    first = self._waiting.get_nowait()
                except queue.Empty:
                    break
            stopping = first is None
            if batch:
                results = self._commit(batch)
                self._loop.call_soon_threadsafe(_answer, batch, results)

    def _commit(self, batch: list[_Waiting]) -> list[Any]:
        conn = self._writer
        try:
            conn.execute("BEGIN IMMEDIATE")
            results = [self._run(waiting.unit) for waiting in batch]
            conn.execute("COMMIT")
            return results
        except sqlite3.Error as fault:
            log.error("store: commit failed: %s", fault)
            with contextlib.suppress(sqlite3.Error):
                conn.execute("ROLLBACK")
            return [StoreError(f"{self.path}: {fault}")] * len(batch)

    def _run(self, unit: Unit[Any]) -> Any:
        conn = self._writer
        conn.execute("SAVEPOINT unit")
        try:
            result = unit(conn)
        except sqlite3.Error as fault:
            if not conn.in_transaction:  # disk full may roll the whole transaction back
                raise
            conn.execute("ROLLBACK TO unit")
            result = StoreError(f"{self.path}: {fault}") if _of_the_disk(fault) else fault
        except Exception as fault:
            conn.execute("ROLLBACK TO unit")
            result = fault
        conn.execute("RELEASE unit")
        return result

    async def shrink(self) -> None:
        """Give the write-ahead log's space back; a no-op while a reader holds it."""
        await self._loop.run_in_executor(self._readers, self._truncate)

    def _truncate(self) -> None:
        with contextlib.closing(connect(self.path)) as conn:
            # While it waits for a reader, nobody can write.
            conn.execute(f"PRAGMA busy_timeout={SHRINK_WAIT_MS}")
            busy, pages, _ = conn.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if busy:
            log.warning("store: a reader keeps the write-ahead log at %d pages; tried again later", pages)


def _of_the_disk(fault: sqlite3.Error) -> bool:
    """Whether the file or the disk is at fault, so that the same unit may succeed later."""
    # What the sqlite3 module raises by itself carries no code.
    return getattr(fault, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF in _DISK_FAULTS


def _answer(batch: list[_Waiting], results: list[Any]) -> None:
    for waiting, result in zip(batch, results, strict=True):
        if waiting.future.done():
            continue
        if isinstance(result, Exception):
            waiting.future.set_exception(result)
        else:
            waiting.future.set_result(result)


def backup(source: Path, target: Path) -> None:
    """A consistent copy of a database that may be in use. Blocking; refuses to overwrite. Raises StoreError."""
    if target.exists():
        raise StoreError(f"{target} exists: name a new file")
    with contextlib.closing(connect(source, read_only=True)) as old:
        target.parent.mkdir(parents=True, exist_ok=True)
        os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        try:
            with contextlib.closing(connect(target)) as new:
                old.backup(new)
                new.execute("PRAGMA journal_mode=DELETE")
        except (sqlite3.Error, StoreError) as fault:
            target.unlink()
            raise StoreError(f"cannot copy {source}: {fault}") from fault

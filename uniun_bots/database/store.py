"""One SQLite file, one writing thread, one reading thread.

A write is a *unit*: a plain function over the connection. Units queue up for the one writer, which takes what
has gathered into one transaction and answers them all after one commit. When one of them raises, all are run again,
each behind a savepoint of its own; so a unit does nothing but ask and tell the connection.
A unit is atomic and durable when its await returns, it cannot interleave with another, and no cursor stays open
across an await. Reads that have gathered share a snapshot.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar
from urllib.parse import quote

from uniun_bots.clock import monotonic
from uniun_bots.database.migrate import migrate
from uniun_bots.database.worker import Waiting, Worker
from uniun_bots.errors import StoreError

log = logging.getLogger(__name__)

T = TypeVar("T")
Unit = Callable[[sqlite3.Connection], T]
FILE = "uniun-bots.sqlite"
"""Its name in a data folder."""
SHRINK_WAIT_MS = 200
TOGETHER_S = 0.002
"""Reads that took longer than this together are answered before the next one begins."""

_DISK_FAULTS = (
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_NOMEM,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_CORRUPT,
)


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
        self._closed = False

    async def __aenter__(self) -> Self:
        await asyncio.to_thread(self._open)
        self._writes = Worker("store-writer", self._write_all)
        self._reads = Worker("store-reader", self._read_all)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closed = True
        await self._writes.stop()
        await self._reads.stop()
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
        # The unit is on its way: a caller that is cancelled does not take it back.
        return await self._ask(self._writes, unit)

    async def read(self, query: Unit[T]) -> T:
        """Run `query` on a consistent snapshot that is at least as new as the last finished write."""
        return await self._ask(self._reads, query)

    def _ask(self, worker: Worker, unit: Unit[T]) -> asyncio.Future[T]:
        if self._closed:
            raise StoreError(f"{self.path} is closed")
        return worker.ask(unit)

    def _read_all(self, batch: list[Waiting]) -> None:
        """On one snapshot, unless that takes long: nobody waits for a slow one behind it."""
        while batch:
            ends, results = monotonic() + TOGETHER_S, []
            self._reader.execute("BEGIN")
            for waiting in batch:
                results.append(_result(waiting.unit, self._reader))
                if monotonic() > ends:
                    break
            if self._reader.in_transaction:
                self._reader.execute("ROLLBACK")
            done, batch = batch[: len(results)], batch[len(results) :]
            self._reads.tell(done, results)

    def _write_all(self, batch: list[Waiting]) -> None:
        self._writes.tell(batch, self._commit(batch))

    def _commit(self, batch: list[Waiting]) -> list[Any]:
        conn = self._writer
        try:
            conn.execute("BEGIN IMMEDIATE")
            results = [_result(waiting.unit, conn) for waiting in batch]
            if any(isinstance(result, Exception) for result in results):
                results = self._one_by_one(batch)
            conn.execute("COMMIT")
            return results
        except sqlite3.Error as fault:
            log.error("store: commit failed: %s", fault)
            with contextlib.suppress(sqlite3.Error):
                conn.execute("ROLLBACK")
            return [StoreError(f"{self.path}: {fault}")] * len(batch)

    def _one_by_one(self, batch: list[Waiting]) -> list[Any]:
        """All of it again, and nothing stays of a unit that raises."""
        if self._writer.in_transaction:  # disk full may have rolled it back already
            self._writer.execute("ROLLBACK")
        self._writer.execute("BEGIN IMMEDIATE")
        return [self._run(waiting.unit) for waiting in batch]

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
        await asyncio.to_thread(self._truncate)

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


def _result(unit: Unit[Any], conn: sqlite3.Connection) -> Any:
    """What it gives, or the exception that it raises."""
    try:
        return unit(conn)
    except Exception as fault:
        return fault


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

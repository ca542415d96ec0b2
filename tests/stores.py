"""Real SQLite for tests: a connection inside of one open transaction, or a whole store."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from uniun_bots.database.migrate import migrate
from uniun_bots.database.store import Store, connect


@pytest.fixture
def tx(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    """As a unit of the store sees it; a few times faster than a commit for each statement."""
    with contextlib.closing(connect(tmp_path / "graph.sqlite")) as conn:
        migrate(conn)
        conn.execute("BEGIN IMMEDIATE")
        yield conn


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    async with Store(tmp_path / "data" / "graph.sqlite") as opened:
        yield opened


@contextlib.contextmanager
def undone(tx: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    """For properties, which try many examples on one file: nothing of an example stays."""
    tx.execute("SAVEPOINT example")
    try:
        yield tx
    finally:
        tx.execute("ROLLBACK TO example")
        tx.execute("RELEASE example")


def count(tx: sqlite3.Connection, table: str) -> int:
    return int(tx.execute(f"SELECT count(*) FROM {table}").fetchone()[0])  # noqa: S608

"""One read of a database file, also beside a host that is running on it."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path
from typing import TypeVar

from uniun_bots.database.store import Unit, connect
from uniun_bots.errors import StoreError

T = TypeVar("T")


def read_file(path: Path, query: Unit[T]) -> T:
    """`query` on a consistent snapshot. Blocking. Raises StoreError, also for a file that is damaged."""
    with contextlib.closing(connect(path, read_only=True)) as conn:
        try:
            conn.execute("BEGIN")
            return query(conn)
        except sqlite3.Error as fault:
            raise StoreError(f"cannot read {path}: {fault}") from fault

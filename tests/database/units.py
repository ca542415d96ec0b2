"""Units for the tests of this room, and what they left."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import stat
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from uniun_bots.database.store import Store


def add(relay: str, number: int = 0) -> Callable[[sqlite3.Connection], None]:
    """A unit that leaves one row."""

    def unit(tx: sqlite3.Connection) -> None:
        tx.execute("INSERT INTO heard (id, relay, at) VALUES (?, ?, 0)", (str(number), relay))

    return unit


def fill(number: int) -> Callable[[sqlite3.Connection], None]:
    """A unit of 4 rows in some 60 pages."""

    def unit(tx: sqlite3.Connection) -> None:
        for part in range(4):
            add("x" * 60_000, 10 * number + part)(tx)

    return unit


def fail(tx: sqlite3.Connection) -> None:
    add("from a failing unit")(tx)
    raise ValueError("no")


def relays(tx: sqlite3.Connection) -> set[str]:
    return {row[0] for row in tx.execute("SELECT relay FROM heard")}


def names_in(folder: Path) -> list[str]:
    return sorted(os.listdir(folder))


def mode_of(file: Path) -> int:
    return stat.S_IMODE(file.stat().st_mode)


class Gate:
    """A unit that holds the writer until it is opened, so that what is written meanwhile gathers."""

    def __init__(self, store: Store) -> None:
        self._entered, self._open = threading.Event(), threading.Event()
        self._writing = asyncio.ensure_future(store.write(self._unit))

    def _unit(self, tx: sqlite3.Connection) -> None:
        self._entered.set()
        assert self._open.wait(20)

    async def entered(self) -> None:
        await asyncio.to_thread(self._entered.wait, 20)

    async def open(self) -> None:
        self._open.set()
        await self._writing


async def gathered(store: Store, *units: Callable[[sqlite3.Connection], Any]) -> list[Any]:
    """What each unit gave or raised, all of them taken by the writer at once."""
    gate = Gate(store)
    await gate.entered()
    writes = [asyncio.ensure_future(store.write(unit)) for unit in units]
    await asyncio.sleep(0)
    await gate.open()
    return await asyncio.gather(*writes, return_exceptions=True)

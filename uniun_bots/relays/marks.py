"""Up to when a relay has been read completely, per relay and filter."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Sequence
from typing import Protocol

from uniun_bots.database.store import Store
from uniun_bots.nostr.filter import Filter


class Marks(Protocol):
    """Where marks are kept. A mark is the second at which a complete read began, never an event's time."""

    async def get(self, relay: str, keys: Sequence[str]) -> dict[str, int]: ...

    async def set(self, relay: str, keys: Sequence[str], read_up_to: int) -> None: ...


class MemoryMarks:
    """For gateways without a store: everything is read again after a restart."""

    def __init__(self) -> None:
        self._marks: dict[tuple[str, str], int] = {}

    async def get(self, relay: str, keys: Sequence[str]) -> dict[str, int]:
        return {key: self._marks[relay, key] for key in keys if (relay, key) in self._marks}

    async def set(self, relay: str, keys: Sequence[str], read_up_to: int) -> None:
        self._marks.update({(relay, key): read_up_to for key in keys})


class StoreMarks:
    """In the table `sync_marks`, which this room owns."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def get(self, relay: str, keys: Sequence[str]) -> dict[str, int]:
        return await self._store.read(lambda db: read_marks(db, relay, keys))

    async def set(self, relay: str, keys: Sequence[str], read_up_to: int) -> None:
        await self._store.write(lambda db: write_marks(db, relay, keys, read_up_to))


def key_of(wanted: Filter) -> str:
    text = json.dumps(wanted.within().as_json_object(), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def read_marks(db: sqlite3.Connection, relay: str, keys: Iterable[str]) -> dict[str, int]:
    wanted = set(keys)
    rows = db.execute("SELECT filter, read_up_to FROM sync_marks WHERE relay = ?", (relay,))
    return {key: up_to for key, up_to in rows if key in wanted}


def write_marks(db: sqlite3.Connection, relay: str, keys: Iterable[str], read_up_to: int) -> None:
    db.executemany(
        "INSERT INTO sync_marks (relay, filter, read_up_to) VALUES (?, ?, ?)"
        " ON CONFLICT (relay, filter) DO UPDATE SET read_up_to = excluded.read_up_to",
        [(relay, key, read_up_to) for key in keys],
    )

from __future__ import annotations

import asyncio
import contextlib
import resource
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.database.units import add, fill, mode_of, names_in, relays
from uniun_bots.database.store import Store, backup, connect
from uniun_bots.errors import StoreError


async def test_a_backup_made_while_writing_is_one_consistent_whole(store: Store, tmp_path: Path) -> None:
    def pair(number: int) -> Callable[[sqlite3.Connection], None]:
        return lambda tx: (add("left", number)(tx), add("right", number)(tx))[0]

    async def keep_writing(stop: asyncio.Event) -> int:
        number = 1000
        while not stop.is_set():
            await store.write(pair(number))
            number += 1
        return number

    for number in range(1000):
        await store.write(pair(number))
    stop = asyncio.Event()
    writing = asyncio.ensure_future(keep_writing(stop))
    copy = tmp_path / "copies" / "copy.sqlite"
    await asyncio.to_thread(backup, store.path, copy)
    stop.set()
    await writing
    with contextlib.closing(connect(copy, read_only=True)) as copied:
        sides = dict(copied.execute("SELECT relay, count(*) FROM heard GROUP BY relay").fetchall())
        assert copied.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
    assert sides["left"] == sides["right"] >= 1000
    assert mode_of(copy) == 0o600


async def test_a_backup_is_one_file_that_a_store_opens(store: Store, tmp_path: Path) -> None:
    await store.write(add("a"))
    await asyncio.to_thread(backup, store.path, tmp_path / "copies" / "copy.sqlite")
    assert names_in(tmp_path / "copies") == ["copy.sqlite"]
    assert (tmp_path / "copies" / "copy.sqlite").read_bytes()[18:20] == b"\x01\x01", "readable without a log"
    async with Store(tmp_path / "copies" / "copy.sqlite") as opened:
        assert await opened.read(relays) == {"a"}


def test_a_backup_overwrites_nothing(tmp_path: Path) -> None:
    (tmp_path / "copy.sqlite").write_text("dear")
    with pytest.raises(StoreError, match="exists"):
        backup(tmp_path / "graph.sqlite", tmp_path / "copy.sqlite")
    assert (tmp_path / "copy.sqlite").read_text() == "dear"


@pytest.mark.parametrize("source", [None, "dear diary, " * 1000])
def test_a_backup_that_fails_leaves_no_file_behind(tmp_path: Path, source: str | None) -> None:
    if source:
        (tmp_path / "graph.sqlite").write_text(source)
    with pytest.raises(StoreError):
        backup(tmp_path / "graph.sqlite", tmp_path / "copy.sqlite")
    assert not (tmp_path / "copy.sqlite").exists()


async def test_a_backup_for_which_there_is_no_room_leaves_no_file_behind(
    store: Store, tmp_path: Path
) -> None:
    await store.write(fill(1))
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))
    try:
        with pytest.raises(StoreError, match="cannot copy"):
            backup(store.path, tmp_path / "copy.sqlite")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert not [name for name in names_in(tmp_path) if name.startswith("copy")]

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.database.units import add, fill, gathered, mode_of, names_in, relays
from tests.stores import count
from uniun_bots.database.store import Store, connect
from uniun_bots.errors import StoreError


async def test_the_log_shrinks_when_the_reader_that_held_it_is_gone(store: Store) -> None:
    """E02"""
    log = store.path.with_name(store.path.name + "-wal")
    with contextlib.closing(connect(store.path, read_only=True)) as reader:
        await store.write(add("a"))
        reader.execute("BEGIN")
        assert relays(reader) == {"a"}
        for number in range(40):
            await store.write(fill(number))
        assert log.stat().st_size > 8_000_000
    await store.shrink()
    assert log.stat().st_size == 0
    await store.write(add("b"))


async def test_a_reader_that_stays_makes_shrink_wait_for_the_next_time(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    """E02"""
    with contextlib.closing(connect(store.path, read_only=True)) as reader:
        await store.write(add("a"))
        reader.execute("BEGIN")
        assert relays(reader) == {"a"}
        await store.write(add("b"))
        await store.shrink()
        assert "a reader keeps" in caplog.text
        await store.write(add("c"))
    assert await store.read(relays) == {"a", "b", "c"}


def fill_at_once(tx: sqlite3.Connection) -> None:
    tx.execute(
        "INSERT INTO heard (id, relay, at) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n"
        " WHERE i < 4) SELECT i, hex(zeroblob(30000)), 0 FROM n"
    )


@pytest.mark.parametrize("big", [fill(1), fill_at_once], ids=["many steps", "one statement"])
async def test_a_full_disk_is_told_as_such_takes_all_of_the_unit_and_heals(
    store: Store, big: Callable[[sqlite3.Connection], None]
) -> None:
    def no_room(tx: sqlite3.Connection) -> None:
        pages = tx.execute("PRAGMA page_count").fetchone()[0]
        tx.execute(f"PRAGMA max_page_count = {pages + 4}")

    await store.write(add("before"))
    await store.write(no_room)
    results = await gathered(store, add("small"), big)
    assert isinstance(results[1], StoreError)
    assert results[0] is None or isinstance(results[0], StoreError)
    small = {"small"} if results[0] is None else set()
    assert await store.read(relays) == {"before"} | small, "nothing of the big unit, and no false promise"
    await store.write(lambda tx: tx.execute("PRAGMA max_page_count = 1000000").fetchone())
    await store.write(big)
    assert await store.read(lambda tx: count(tx, "heard")) == 5 + len(small)


async def test_only_its_owner_may_read_the_store_and_its_companions(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        async with Store(tmp_path / "graph.sqlite") as store:
            await store.write(add("a"))
            modes = {name: mode_of(tmp_path / name) for name in names_in(tmp_path)}
    finally:
        os.umask(before)
    assert modes == {f"graph.sqlite{end}": 0o600 for end in ("", "-wal", "-shm")}


@pytest.mark.parametrize("folder", ["50%41 off", "what?mode=memory", "#1", "a b", "ü/é"])
async def test_a_folder_may_have_any_name(tmp_path: Path, folder: str) -> None:
    async with Store(tmp_path / folder / "graph.sqlite") as store:
        await store.write(add("a"))
        assert (tmp_path / folder / "graph.sqlite").stat().st_size > 0
        assert await store.read(relays) == {"a"}


async def test_what_is_no_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "graph.sqlite"
    file.write_text("dear diary, " * 1000)
    with pytest.raises(StoreError, match=r"graph\.sqlite.*not a database"):
        async with Store(file):
            pytest.fail("opened")
    assert file.read_text() == "dear diary, " * 1000

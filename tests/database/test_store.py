from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.database.units import Gate, add, fail, gathered, names_in, relays
from tests.stores import count
from uniun_bots.database.store import TOGETHER_S, Store, connect
from uniun_bots.errors import StoreError


async def test_a_write_is_on_disk_when_its_await_returns(store: Store) -> None:
    await store.write(add("a"))
    with contextlib.closing(connect(store.path, read_only=True)) as another:
        assert relays(another) == {"a"}


async def test_a_write_gives_back_what_its_unit_gave(store: Store) -> None:
    assert await store.write(lambda tx: count(tx, "notes")) == 0


async def test_a_read_sees_what_was_written_before_it(store: Store) -> None:
    await store.write(add("a"))
    assert await store.read(relays) == {"a"}


async def test_a_read_is_one_snapshot_while_others_write(store: Store) -> None:
    entered, written = threading.Event(), threading.Event()

    def twice(tx: sqlite3.Connection) -> tuple[int, int]:
        first = count(tx, "heard")
        entered.set()
        assert written.wait(20)
        return first, count(tx, "heard")

    reading = asyncio.ensure_future(store.read(twice))
    await asyncio.to_thread(entered.wait, 20)
    await store.write(add("a"))
    written.set()
    assert await reading == (0, 0)
    assert await store.read(relays) == {"a"}


async def test_reads_that_gather_share_a_snapshot_and_fail_each_for_itself(store: Store) -> None:
    begun: list[str] = []

    def watch(tx: sqlite3.Connection) -> None:
        tx.set_trace_callback(lambda statement: begun.append(statement) if statement == "BEGIN" else None)
        time.sleep(2 * TOGETHER_S)

    def wrong(tx: sqlite3.Connection) -> None:
        raise ValueError("no")

    reads = [asyncio.ensure_future(store.read(query)) for query in (watch, relays, wrong, relays)]
    found = await asyncio.gather(*reads, return_exceptions=True)
    assert [type(one) for one in found] == [type(None), set, ValueError, set]
    assert len(begun) == 1, "one for the three behind the slow one"


async def test_a_slow_read_does_not_keep_the_answers_before_it(store: Store) -> None:
    slow = threading.Event()
    first = asyncio.ensure_future(store.read(lambda tx: time.sleep(2 * TOGETHER_S)))
    second = asyncio.ensure_future(store.read(lambda tx: slow.wait(20)))
    await asyncio.wait_for(first, 10)
    slow.set()
    assert await second


async def test_a_failing_unit_leaves_nothing_and_raises_its_own_error(store: Store) -> None:
    with pytest.raises(ValueError, match="no"):
        await store.write(fail)
    assert await store.read(relays) == set()


async def test_a_failing_unit_takes_nothing_of_the_others_in_its_commit_with_it(store: Store) -> None:
    results = await gathered(store, add("before"), fail, lambda tx: tx.execute("not SQL"), add("after"))
    assert [type(result) for result in results] == [
        type(None),
        ValueError,
        sqlite3.OperationalError,
        type(None),
    ]
    assert await store.read(relays) == {"before", "after"}


async def test_what_gathers_while_the_writer_is_busy_shares_one_commit(store: Store) -> None:
    commits: list[str] = []

    def watch(tx: sqlite3.Connection) -> None:
        tx.set_trace_callback(lambda statement: commits.append(statement) if statement == "COMMIT" else None)

    await store.write(watch)
    commits.clear()
    await gathered(store, *(add("r", number) for number in range(100)))
    assert len(commits) == 2, "the gate's own one, and one for the hundred"
    assert await store.read(lambda tx: count(tx, "heard")) == 100


async def test_a_cancelled_caller_does_not_take_its_unit_back(store: Store) -> None:
    gate = Gate(store)
    await gate.entered()
    writing = asyncio.ensure_future(store.write(add("a")))
    await asyncio.sleep(0)
    writing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await writing
    await gate.open()
    await store.write(add("b"))
    assert await store.read(relays) == {"a", "b"}


async def test_eight_tasks_that_read_and_write_lose_nothing_and_are_never_locked(store: Store) -> None:
    """E01"""

    def read_and_add(task: int, number: int) -> Callable[[sqlite3.Connection], None]:
        return lambda tx: (count(tx, "heard"), add(f"task {task}", number)(tx))[1]

    async def work(task: int) -> None:
        for number in range(500):
            await store.write(read_and_add(task, number))

    await asyncio.gather(*(work(task) for task in range(8)))
    assert await store.read(lambda tx: count(tx, "heard")) == 4000


async def test_a_unit_has_the_file_for_itself_from_its_first_read_on(store: Store) -> None:
    """E01: nobody writes between what it reads and what it writes."""
    with contextlib.closing(connect(store.path)) as another:
        another.execute("PRAGMA busy_timeout=0")

        def unit(tx: sqlite3.Connection) -> None:
            assert relays(tx) == set()
            with pytest.raises(sqlite3.OperationalError, match="locked"):
                add("command line")(another)
            add("host")(tx)

        await store.write(unit)
        add("command line")(another)
    assert await store.read(relays) == {"host", "command line"}


async def test_the_reading_side_cannot_write(store: Store) -> None:
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        await store.read(add("a"))
    assert await store.read(relays) == set(), "and reads go on"


async def test_a_store_that_is_closed_says_so_instead_of_hanging(tmp_path: Path) -> None:
    async with Store(tmp_path / "graph.sqlite") as store:
        pass
    with pytest.raises(StoreError, match="closed"):
        await store.write(add("late"))
    with pytest.raises(StoreError, match="closed"):
        await store.read(relays)


async def test_what_was_asked_for_before_the_close_is_still_written(tmp_path: Path) -> None:
    async with Store(tmp_path / "graph.sqlite") as store:
        writes = [asyncio.ensure_future(store.write(add("r", number))) for number in range(600)]
        await asyncio.sleep(0)
    await asyncio.gather(*writes)
    assert names_in(tmp_path) == ["graph.sqlite"], "the log was taken in"
    with contextlib.closing(connect(store.path, read_only=True)) as another:
        assert count(another, "heard") == 600

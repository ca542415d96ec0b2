from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from uniun_bots.database import migrate as room
from uniun_bots.database.migrate import FOLDER, migrate
from uniun_bots.database.store import Store, connect
from uniun_bots.errors import StoreError

NEWEST = int(sorted(FOLDER.glob("*.sql"))[-1].stem.split("_")[0])


@pytest.fixture
def conn(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    with contextlib.closing(connect(tmp_path / "graph.sqlite")) as opened:
        yield opened


def version(conn: sqlite3.Connection) -> int:
    return int(conn.execute("PRAGMA user_version").fetchone()[0])


def tables(conn: sqlite3.Connection) -> set[str]:
    return {row[0] for row in conn.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}


@pytest.fixture
def two_steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "migrations"
    folder.mkdir()
    (folder / "0001_first.sql").write_text("CREATE TABLE one (a); INSERT INTO one VALUES ('kept');")
    (folder / "0002_second.sql").write_text("ALTER TABLE one ADD COLUMN b DEFAULT 'new';")
    monkeypatch.setattr(room, "FOLDER", folder)
    return folder


def test_a_new_file_gets_the_whole_schema(conn: sqlite3.Connection) -> None:
    migrate(conn)
    assert version(conn) == NEWEST
    assert {"notes", "surfaces", "cursors", "answered", "held", "outbox", "runs"} <= tables(conn)


def test_migrating_again_changes_nothing(conn: sqlite3.Connection) -> None:
    migrate(conn)
    conn.execute("INSERT INTO heard VALUES ('a', 'b', 0)")
    before = conn.execute("SELECT sql FROM sqlite_master").fetchall()
    migrate(conn)
    assert conn.execute("SELECT sql FROM sqlite_master").fetchall() == before
    assert conn.execute("SELECT id FROM heard").fetchone()[0] == "a"


def test_a_file_of_an_older_version_takes_only_the_steps_it_lacks(
    conn: sqlite3.Connection, two_steps: Path
) -> None:
    second = (two_steps / "0002_second.sql").rename(two_steps / "later")
    migrate(conn)
    assert version(conn) == 1
    second.rename(two_steps / "0002_second.sql")
    migrate(conn)
    assert version(conn) == 2
    assert [tuple(row) for row in conn.execute("SELECT * FROM one")] == [("kept", "new")]


def test_a_step_that_breaks_leaves_the_file_as_it_was(conn: sqlite3.Connection, two_steps: Path) -> None:
    (two_steps / "0002_second.sql").write_text("CREATE TABLE two (a); INSERT INTO nowhere VALUES (1);")
    with pytest.raises(StoreError, match="migrate"):
        migrate(conn)
    assert (version(conn), tables(conn)) == (1, {"one"})
    assert not conn.in_transaction


async def test_a_file_of_a_newer_version_is_refused_and_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "graph.sqlite"
    with contextlib.closing(connect(file)) as conn:
        conn.execute("CREATE TABLE from_the_future (a)")
        conn.execute(f"PRAGMA user_version = {NEWEST + 1}")
    with pytest.raises(StoreError, match=f"newer version.*schema {NEWEST + 1}.*knows {NEWEST}"):
        async with Store(file):
            pytest.fail("opened")
    with contextlib.closing(connect(file)) as conn:
        assert (version(conn), tables(conn)) == (NEWEST + 1, {"from_the_future"})

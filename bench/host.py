"""Resident memory of the host process, idle and with 1,000 Ganas, and its start-up over a large store."""

from __future__ import annotations

import asyncio
import sqlite3
import tempfile
import time
from pathlib import Path

from bench import world
from bench.report import arguments, report
from uniun_bots.database.store import Store

SETTLE_S = 3.0
BATCH = 20_000


def memory_and_start(folder: Path, url: str, ganas: int, notes: int = 0) -> tuple[float, float]:
    """(resident MB after it settled, seconds from the first line of the process to hosting)."""
    project = folder / f"project-{ganas}-{notes}"
    groups = world.group_ids(max(1, ganas))
    env = world.write_project(project, url, groups, ganas)
    if notes:
        asyncio.run(fill(project / "data" / "uniun-bots.sqlite", notes, groups[0]))
    with world.child("-m", "bench.hosting", str(project), env=env) as host:
        started = float(world.line_of(host).split()[1])
        time.sleep(SETTLE_S)
        if host.stdin is None:
            raise RuntimeError("the child takes no input")
        host.stdin.write("memory\n")
        host.stdin.flush()
        return float(world.line_of(host)), started


async def fill(database: Path, notes: int, group: str) -> None:
    """Stored notes as a long life leaves them; made by SQL, since their signatures are never looked at again."""
    async with Store(database) as store:
        for first in range(0, notes, BATCH):
            numbers = {"first": first, "last": min(first + BATCH, notes) - 1, "group": group}
            numbers["at"] = int(time.time()) - 40 * 86_400
            await store.write(lambda tx, values=numbers: insert(tx, values))  # type: ignore[misc]


def insert(tx: sqlite3.Connection, values: dict[str, object]) -> None:
    series = "WITH RECURSIVE s(n) AS (SELECT :first UNION ALL SELECT n + 1 FROM s WHERE n < :last)"
    text = "'note number ' || n || ' about tides, harbours and the weather of day ' || (n % 365)"
    for statement in (
        f"INSERT INTO notes (seq, id, author, kind, created_at, text, origin, heard_at, root, raw) {series}"
        f" SELECT n + 1, printf('%064x', n + 1), printf('%064x', n % 1000), 42, :at, {text}, 'relay', :at, :group,"
        " zeroblob(400) FROM s",
        f"INSERT INTO surfaces {series} SELECT 'group:' || :group, n + 1 FROM s",
        f"INSERT INTO edges {series} SELECT n + 1, 'root', :group FROM s",
        f"INSERT INTO topics {series} SELECT 'topic' || (n % 50), n + 1 FROM s",
        f"INSERT INTO notes_text (rowid, words) {series} SELECT n + 1, {text} FROM s",
        "UPDATE wake_mark SET seq = :last + 1 WHERE :first >= 0 AND :at > 0 AND :group > ''",
    ):
        tx.execute(statement, values)


def main() -> None:
    quick = arguments(__doc__).quick
    notes = 100_000 if quick else 1_000_000
    with tempfile.TemporaryDirectory() as folder, world.relay() as url:
        idle, idle_start = memory_and_start(Path(folder), url, 1)
        many, many_start = memory_and_start(Path(folder), url, 1000)
        full, full_start = memory_and_start(Path(folder), url, 1, notes)
    raw = {
        "one Gana": {"MB": idle, "start_s": idle_start},
        "1,000 Ganas": {"MB": many, "start_s": many_start},
        f"{notes:,} notes": {"MB": full, "start_s": full_start},
    }
    report("host.memory.idle", idle, 1, raw, quick=quick)
    report("host.memory.thousand_ganas", many, 1, raw, quick=quick)
    report("host.start", full_start, 1, raw, quick=quick)


if __name__ == "__main__":
    main()

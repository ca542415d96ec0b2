"""doctor: whether what is derived agrees with what it is derived from; with `fix` it is made anew."""

from __future__ import annotations

import asyncio
import sqlite3
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from uniun_bots.database.store import Store
from uniun_bots.graph import check, index_file
from uniun_bots.graph.index_rows import newest
from uniun_bots.graph.vector_index import Mark

FILE_CHECK = "index file"


@dataclass(frozen=True, slots=True)
class Told:
    """One check, and what came of it."""

    name: str
    wrong: tuple[str, ...]
    mended: bool


async def examine(store: Store, vectors: Path, *, fix: bool) -> list[Told]:
    """Each check in a unit of its own, so that a host goes on between them. `vectors`: the folder of the index."""
    told = [await _file(store)]
    for one in check.CHECKS:
        told.append(await store.write(lambda tx: _carry_out(tx, one, fix)))  # noqa: B023
    return [*told, await _index(store, vectors, fix)]


def as_json(told: list[Told]) -> dict[str, Any]:
    checks = [{"check": one.name, "wrong": list(one.wrong), "mended": one.mended} for one in told]
    return {"checks": checks, "ok": all(not one.wrong or one.mended for one in told)}


def _carry_out(tx: sqlite3.Connection, one: check.Check, fix: bool) -> Told:
    wrong = tuple(f"{found.rows:,} {found.what}" for found in one.find(tx) if found.rows)
    if wrong and fix:
        one.mend(tx)
    return Told(one.name, wrong, bool(wrong) and fix)


async def _file(store: Store) -> Told:
    """SQLite's own look at the file: nothing here can mend that, a backup can."""
    rows = await store.read(lambda tx: [row[0] for row in tx.execute("PRAGMA quick_check(5)")])
    return Told("database file", () if rows == ["ok"] else tuple(rows), mended=False)


async def _index(store: Store, folder: Path, fix: bool) -> Told:
    wrong = await _wrong_with_index(store, folder)
    if wrong and fix:
        # The next search makes it anew.
        await asyncio.to_thread(index_file.remove, folder)
    return Told(FILE_CHECK, wrong, bool(wrong) and fix)


async def _wrong_with_index(store: Store, folder: Path) -> tuple[str, ...]:
    beside = await asyncio.to_thread(index_file.read_beside, folder)
    strays = await asyncio.to_thread(index_file.strays, folder, beside)
    found = [f"{name} belongs to no index" for name in strays]
    if beside is None:
        return tuple(found)
    if damage := await asyncio.to_thread(index_file.damage, folder, beside):
        return (*found, damage)
    known, last, held = await store.read(lambda tx: _as_the_table_says(tx, beside.stamp, beside.change))
    if not known:
        found.append("it is of an embedder that is not there any more")
    elif beside.change > last.change or beside.gone > last.gone:
        found.append("it knows more than the store")
    elif held > beside.count:
        found.append(f"it holds {beside.count:,} vectors where the table has {held:,}")
    return tuple(found)


def _as_the_table_says(tx: sqlite3.Connection, stamp: str, change: int) -> tuple[bool, Mark, int]:
    row = tx.execute("SELECT embedder FROM embedders WHERE stamp = ?", (stamp,)).fetchone()
    held = tx.execute(
        "SELECT count(*) FROM embeddings WHERE embedder = ? AND change <= ? AND vector IS NOT NULL",
        (row["embedder"] if row else None, change),
    ).fetchone()[0]
    return row is not None, newest(tx), held

"""doctor: whether what is derived agrees with what it is derived from; with `fix` it is made anew."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import Any

from uniun_bots.database.store import Store
from uniun_bots.graph import check


@dataclass(frozen=True, slots=True)
class Told:
    """One check, and what came of it."""

    name: str
    wrong: tuple[str, ...]
    mended: bool


async def examine(store: Store, *, fix: bool) -> list[Told]:
    """Each check in a unit of its own, so that a host goes on between them."""
    told = [await _file(store)]
    for one in check.CHECKS:
        told.append(await store.write(lambda tx: _carry_out(tx, one, fix)))  # noqa: B023
    return told


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

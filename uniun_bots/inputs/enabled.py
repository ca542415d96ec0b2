"""Whether a Gana is on, since when, and whether a person paused it: rows, so that a restart knows."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Standing:
    enabled: bool
    enabled_at: float
    start_seq: int
    """Surfaces first seen later start here: the first arrival after the Gana was turned on."""
    catch_up: bool
    paused: str | None
    """Why it is paused; None when it is not."""
    spent: bool
    """A `once-*` trigger that has had its run."""


OFF = Standing(False, 0.0, 0, False, None, False)


def standing(tx: sqlite3.Connection, gana: str) -> Standing:
    row = tx.execute("SELECT * FROM ganas WHERE gana = ?", (gana,)).fetchone()
    if row is None:
        return OFF
    return Standing(
        enabled=bool(row["enabled"]),
        enabled_at=row["enabled_at"],
        start_seq=row["start_seq"],
        catch_up=bool(row["catch_up"]),
        paused=row["paused"],
        spent=bool(row["spent"]),
    )


def is_known(tx: sqlite3.Connection, gana: str) -> bool:
    """Whether it was ever on, or paused."""
    return tx.execute("SELECT 1 FROM ganas WHERE gana = ?", (gana,)).fetchone() is not None


def turn_on(tx: sqlite3.Connection, gana: str, now: float, *, catch_up: bool = False) -> bool:
    """Start at now, or with `catch_up` where it stopped. False when it is on already (nothing changes)."""
    if standing(tx, gana).enabled:
        return False
    newest = tx.execute("SELECT coalesce(max(seq), 0) FROM notes").fetchone()[0]
    if catch_up and is_known(tx, gana):
        tx.execute("UPDATE ganas SET enabled = 1, catch_up = 1, spent = 0 WHERE gana = ?", (gana,))
        return True
    tx.execute("DELETE FROM cursors WHERE gana = ?", (gana,))
    tx.execute(
        "INSERT INTO ganas (gana, enabled, enabled_at, start_seq, catch_up) VALUES (?, 1, ?, ?, ?)"
        " ON CONFLICT (gana) DO UPDATE SET enabled = 1, enabled_at = excluded.enabled_at,"
        " start_seq = excluded.start_seq, catch_up = excluded.catch_up, spent = 0",
        (gana, now, 1 if catch_up else newest + 1, catch_up),
    )
    return True


def repair(tx: sqlite3.Connection, now: float) -> None:
    """A start in the future was written while the clock was ahead; it would hold every honest note until then."""
    tx.execute("UPDATE ganas SET enabled_at = ? WHERE enabled_at > ?", (now, now))


def turn_off(tx: sqlite3.Connection, gana: str) -> None:
    tx.execute("UPDATE ganas SET enabled = 0 WHERE gana = ?", (gana,))


def pause(tx: sqlite3.Connection, gana: str, why: str) -> None:
    tx.execute(
        "INSERT INTO ganas (gana, paused) VALUES (?, ?) ON CONFLICT (gana) DO UPDATE SET paused = excluded.paused",
        (gana, why),
    )


def resume(tx: sqlite3.Connection, gana: str) -> None:
    tx.execute("UPDATE ganas SET paused = NULL WHERE gana = ?", (gana,))


def spend(tx: sqlite3.Connection, gana: str) -> None:
    tx.execute("UPDATE ganas SET spent = 1 WHERE gana = ?", (gana,))

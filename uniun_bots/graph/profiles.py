"""Profiles (kind 0): who says to be a bot, and what people are called."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable

from uniun_bots.nostr.event import Event
from uniun_bots.nostr.profile import Profile, read_profile

FRESH_S = 86_400
"""A profile that was looked up, found or not, is not asked for again within this."""


def keep_profile(tx: sqlite3.Connection, event: Event, at: float) -> None:
    """The newest one stays; of two in the same second the lower id (NIP-01)."""
    profile = read_profile(event)
    tx.execute(
        "INSERT INTO profiles (pubkey, name, about, is_bot, created_at, event_id, raw, checked_at)"
        " VALUES (?,?,?,?,?,?,?,?) ON CONFLICT (pubkey) DO UPDATE SET name=excluded.name, about=excluded.about,"
        " is_bot=excluded.is_bot, created_at=excluded.created_at, event_id=excluded.event_id,"
        " raw=excluded.raw, checked_at=excluded.checked_at WHERE excluded.created_at > created_at"
        " OR (excluded.created_at = created_at AND excluded.event_id < coalesce(event_id, 'z'))",
        (
            event.author,
            profile.name or "",
            profile.about,
            profile.is_bot,
            event.created_at,
            event.id,
            event.raw,
            at,
        ),
    )


def mark_checked(tx: sqlite3.Connection, pubkeys: Iterable[str], at: float) -> None:
    """Remember that these were asked for, so that silence is not asked again and again."""
    tx.execute(
        "INSERT INTO profiles (pubkey, checked_at) SELECT value, ? FROM json_each(?) WHERE true"
        " ON CONFLICT (pubkey) DO UPDATE SET checked_at = excluded.checked_at",
        (at, json.dumps(list(pubkeys))),
    )


def fresh_profiles(tx: sqlite3.Connection, pubkeys: Collection[str], now: float) -> dict[str, Profile]:
    """Those that need no look-up now, found or known to be silent."""
    marks = ",".join("?" * len(pubkeys))
    rows = tx.execute(
        f"SELECT pubkey, name, about, is_bot, created_at FROM profiles"  # noqa: S608
        f" WHERE checked_at > ? AND pubkey IN ({marks})",
        (now - FRESH_S, *pubkeys),
    )
    return {row["pubkey"]: _profile(row) for row in rows}


def names_of(tx: sqlite3.Connection, pubkeys: Collection[str]) -> dict[str, str]:
    marks = ",".join("?" * len(pubkeys))
    rows = tx.execute(f"SELECT pubkey, name FROM profiles WHERE pubkey IN ({marks})", tuple(pubkeys))  # noqa: S608
    return {row["pubkey"]: row["name"] for row in rows if row["name"]}


def _profile(row: sqlite3.Row) -> Profile:
    return Profile(
        pubkey=row["pubkey"],
        name=row["name"],
        about=row["about"],
        is_bot=bool(row["is_bot"]),
        created_at=row["created_at"],
    )

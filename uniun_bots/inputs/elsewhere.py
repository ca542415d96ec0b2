"""Events by our own keys that this data folder did not make: another client, another host, a lost folder.

Whatever such an event answers is answered, so a restored backup or a second machine says nothing twice.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence

from uniun_bots.inputs.decided import decide_elsewhere
from uniun_bots.nostr.event import Event
from uniun_bots.nostr.threads import read_thread


def notice_elsewhere(
    tx: sqlite3.Connection, new: Sequence[Event], ganas_by_key: Mapping[str, Sequence[str]], now: float
) -> list[Event]:
    """`new`: notes that were not in the store. Returns those by our keys."""
    foreign = [event for event in new if event.author in ganas_by_key]
    for event in foreign:
        answered = read_thread(event).parent
        if answered is not None:
            for gana in ganas_by_key[event.author]:
                decide_elsewhere(tx, gana, "", answered, now)
    return foreign


def notice_kept(
    tx: sqlite3.Connection, ganas_by_key: Mapping[str, Sequence[str]], since: float, now: float
) -> None:
    """The same of notes that were kept while nobody hosted these keys, such as those of an import."""
    for author, ganas in ganas_by_key.items():
        rows = tx.execute(
            "SELECT parent FROM notes WHERE author = ? AND created_at >= ? AND origin = 'relay'"
            " AND parent IS NOT NULL",
            (author, int(since)),
        ).fetchall()
        for row in rows:
            for gana in ganas:
                decide_elsewhere(tx, gana, "", row["parent"], now)

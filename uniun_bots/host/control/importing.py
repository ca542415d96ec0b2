"""A batch of an import, kept by the running host for the command that reads the dump."""

from __future__ import annotations

import asyncio
import sqlite3
from typing import Any

from uniun_bots.graph.imports import Mark, forget_mark, set_mark
from uniun_bots.graph.keep import Kept
from uniun_bots.host.house import House
from uniun_bots.host.tending.keeping import keep_and_notice
from uniun_bots.nostr.read import read_event
from uniun_bots.relays.heard import Heard


async def take_batch(house: House, asked: dict[str, Any]) -> dict[str, int]:
    """`asked`: verified events as JSON texts, and the mark; or the name of a file that is through."""
    if through := asked.get("through"):
        await house.store.write(lambda tx: forget_mark(tx, through))
        return {}
    now = house.clock.now()
    mark = Mark(**asked["mark"]) if asked["mark"] else None
    events = await asyncio.to_thread(lambda: [read_event(raw) for raw in asked["events"]])
    heard = [Heard(event, "", now) for event in events]

    def unit(tx: sqlite3.Connection) -> Kept:
        kept, _ = keep_and_notice(tx, heard, (), house.roster.by_key, now, pauses=False)
        if mark:
            set_mark(tx, mark)
        return kept

    kept = await house.store.write(unit)
    house.counters.update(imported=len(kept.new))
    if kept.new:
        house.arrived.set()
        house.remembering.look()
        house.embedding.look(len(kept.new))
    return {"new": len(kept.new), "expired": kept.expired}

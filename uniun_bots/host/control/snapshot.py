"""What `status` shows of a running host, as plain JSON values."""

from __future__ import annotations

import dataclasses
import os
import sqlite3
from typing import Any

from uniun_bots.approvals.queue import waiting_count as approvals_waiting
from uniun_bots.graph.extractions import backlog
from uniun_bots.host.roster import Roster
from uniun_bots.host.running import Running
from uniun_bots.inputs.cursors import own_keys, pending_count
from uniun_bots.inputs.enabled import standing
from uniun_bots.publishing.outbox import waiting_count


async def snapshot(host: Running) -> dict[str, Any]:
    house = host.house
    rows = await house.store.read(lambda tx: _from_rows(tx, house.roster, house.clock.now()))
    return {
        "pid": os.getpid(),
        "folder": str(host.folder.resolve()),
        "relays": [dataclasses.asdict(relay) for relay in house.gateway.status()],
        "engines": [dataclasses.asdict(engine) for engine in house.scheduler.status()],
        "scheduler": house.scheduler.snapshot(),
        "wakeups": len(house.wakeups),
        "counters": dict(house.counters),
        "skills_left_out": list(house.roster.left_out),
        "memories_on": house.remembering.is_on,
        "search": await house.embedding.status(),
        **rows,
    }


def _from_rows(tx: sqlite3.Connection, roster: Roster, now: float) -> dict[str, Any]:
    own = own_keys(roster.by_key.keys())
    ganas = []
    for hosted in roster.ganas.values():
        state = standing(tx, hosted.id)
        last = tx.execute(
            "SELECT run, ending, reason, ended_at FROM runs WHERE gana = ? ORDER BY run DESC LIMIT 1",
            (hosted.id,),
        ).fetchone()
        ganas.append(
            {
                "gana": hosted.id,
                "mode": str(hosted.gana.mode),
                "paused": state.paused,
                "spent": state.spent,
                "surface": hosted.surface,
                "pending": pending_count(tx, hosted.id, hosted.surface, own) if hosted.surface else 0,
                "approvals": approvals_waiting(tx, now, hosted.id),
                "last_run": dict(last) if last else None,
            }
        )
    return {
        "ganas": ganas,
        "approvals": approvals_waiting(tx, now),
        "outbox": waiting_count(tx),
        "dead_letters": tx.execute("SELECT count(*) FROM dead_letters").fetchone()[0],
        "memories": dataclasses.asdict(backlog(tx)),
        "notes": tx.execute("SELECT coalesce(max(seq), 0) FROM notes").fetchone()[0],
    }

"""What personas would have done with recorded events: the whole flow, on recorded relays and at recorded times."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from typing import Any

from uniun_bots.clock import VirtualClock, WallClock
from uniun_bots.graph.keep import NOTE_KINDS
from uniun_bots.host.host import Host
from uniun_bots.host.rehearsal.decisions import Decision, decisions_on, of_run
from uniun_bots.host.rehearsal.rehearsal import Rehearsal
from uniun_bots.host.rehearsal.staging import Staged
from uniun_bots.host.roster import Roster
from uniun_bots.inference.engine import Engine
from uniun_bots.nostr.event import Event
from uniun_bots.relays.file_gateway import FileGateway
from uniun_bots.skills.library import Library


@dataclass(frozen=True, slots=True)
class Played:
    note: str
    author: str
    at: int
    text: str
    decisions: tuple[Decision, ...]
    """Empty when nobody watches where it stands."""


@dataclass(frozen=True, slots=True)
class Story:
    played: tuple[Played, ...]
    timers: tuple[Decision, ...]
    runs: tuple[dict[str, Any], ...]
    throwaway: tuple[str, ...]
    """Ganas that ran on another key than their own."""


async def simulate(
    staged: Staged, library: Library, events: Sequence[Event], engines: Mapping[str, Engine], go_on_s: float
) -> Story:
    """`go_on_s`: how long it goes on after the last event. Raises ConfigError, StillBusy."""
    ordered = sorted(events, key=lambda event: event.created_at)
    clock = VirtualClock(float(ordered[0].created_at - 1) if ordered else WallClock().now())
    async with on_file(staged, library, clock, engines) as (rehearsal, gateway):
        for event in ordered:
            await rehearsal.go_to(float(event.created_at))
            gateway.play(event)
            await rehearsal.settle()
        await rehearsal.play_out(clock.now() + go_on_s)
        roster = rehearsal.host.house.roster
        return await rehearsal.host.store.read(lambda tx: _story(tx, ordered, roster, staged.throwaway))


@asynccontextmanager
async def on_file(
    staged: Staged, library: Library, clock: VirtualClock, engines: Mapping[str, Engine]
) -> AsyncIterator[tuple[Rehearsal, FileGateway]]:
    """A host on a stand-in for all relays."""
    gateway = FileGateway(clock)
    async with Host(
        staged.project.folder,
        clock=clock,
        environ=staged.environ,
        engines=engines,
        read=lambda _: (staged.project, library),
        connect=lambda *_: gateway,
    ) as host:
        yield Rehearsal(host, clock), gateway


def _story(
    tx: sqlite3.Connection, events: Sequence[Event], roster: Roster, throwaway: tuple[str, ...]
) -> Story:
    notes = [event for event in events if event.kind in NOTE_KINDS]
    played = tuple(
        Played(one.id, one.author, one.created_at, one.content, tuple(decisions_on(tx, one, roster)))
        for one in notes
    )
    timers = tx.execute("SELECT * FROM answered WHERE key LIKE 'due:%' ORDER BY at, gana").fetchall()
    runs = tx.execute("SELECT * FROM runs ORDER BY run").fetchall()
    return Story(
        played,
        tuple(of_run(tx, row) for row in timers),
        tuple({**dict(row), "keys": json.loads(row["keys"])} for row in runs),
        throwaway,
    )


def as_json(story: Story) -> dict[str, Any]:
    return asdict(story)

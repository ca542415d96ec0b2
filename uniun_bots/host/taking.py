"""take: which turn comes next for a wakeup, and which turns are under way. Rows decide; this only remembers."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections import defaultdict, deque
from collections.abc import Collection

from uniun_bots.clock import monotonic
from uniun_bots.host.premises import Premises
from uniun_bots.host.progress import Progress
from uniun_bots.inputs.budgets import Running
from uniun_bots.inputs.cursors import advance, own_keys
from uniun_bots.inputs.stopped import find_stop, mute
from uniun_bots.inputs.take import take
from uniun_bots.inputs.taken import Asked, Needs, Taken
from uniun_bots.inputs.turn import Turn
from uniun_bots.journal.close import ONCE, Withdrawn
from uniun_bots.personas.hosted import HostedGana
from uniun_bots.triggers.match import settle
from uniun_bots.triggers.timetable import move_on
from uniun_bots.triggers.wakeup import Wakeup

log = logging.getLogger("uniun_bots.flow")

CROWD = 100
"""So many turns under way, and each further Gana gets one place only: fairness needs no more of it to stand in line."""
MOST_UNDER_WAY = 2000
"""Turns in all; what is beyond them stays a wakeup."""


class Taking:
    def __init__(self, premises: Premises) -> None:
        self._at = premises
        self._progress: dict[tuple[str, str], Progress] = {}
        self._running: defaultdict[str, dict[str, Running]] = defaultdict(dict)
        """The same turns by Gana: thousands may be under way."""
        self._ready: defaultdict[tuple[str, str], deque[Turn]] = defaultdict(deque)
        """Turns that were taken along with another one and have not begun."""
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    def progress(self, turn: Turn) -> Progress:
        return self._progress[turn.gana, turn.key]

    def over(self, turn: Turn) -> None:
        self._leave(turn.gana, turn.key)

    def places_of_one(self) -> int:
        """One in the model and one being made ready for each slot; so every Gana finds a place in the scheduler's
        queue, which says who is next."""
        places = 2 * (1 + sum(settings.side_by_side for settings in self._at.settings.engines.values()))
        return 1 if len(self._progress) >= max(CROWD, places) else places

    async def next_turn(self, hosted: HostedGana, wakeup: Wakeup) -> Turn | None:
        """One that was taken along with another, or the next from the store."""
        ready = self._ready[hosted.id, wakeup.surface]
        if wakeup.due is not None or not ready:
            taken = await self._taken(hosted, wakeup)
            if taken.turn is None:
                await self._nothing_taken(hosted, wakeup, taken)
                return None
            ready.extend(turn for turn, _ in taken.others)
            turn = taken.turn
        else:
            turn = ready.popleft()
        if turn.due is None:
            self._at.wakeups.not_later(turn.gana, turn.surface, self._at.clock.now())
        return turn

    def forget(self, gana: str) -> None:
        """It is not hosted any more: what was taken for it and has not begun is pending again."""
        self._at.wakeups.drop(gana)
        for key in [key for key in self._ready if key[0] == gana]:
            for turn in self._ready.pop(key):
                self._leave(gana, turn.key)

    def running(self, gana: str) -> tuple[Running, ...]:
        return tuple(self._running[gana].values()) if gana in self._running else ()

    async def look_for_stop(self, turn: Turn) -> None:
        """Raises Withdrawn. A turn that stood in line for long may be one that its author wants no answer to."""
        hosted, now = self.progress(turn).hosted, self._at.clock.now()
        asked = Asked(hosted, turn.surface, None, now, own_keys(self._at.roster.by_key.keys()))
        if stop := await self._at.store.read(lambda tx: find_stop(tx, asked, turn)):
            await self._at.store.write(lambda tx: mute(tx, hosted.id, stop, now))
            raise Withdrawn("its author asked us to stop meanwhile", "stop")

    def _enter(self, turn: Turn, progress: Progress) -> None:
        self._progress[turn.gana, turn.key] = progress
        self._running[turn.gana][turn.key] = progress.running

    def _leave(self, gana: str, key: str) -> None:
        if self._progress.pop((gana, key), None):
            del self._running[gana][key]
            if not self._running[gana]:
                del self._running[gana]

    async def _taken(self, hosted: HostedGana, wakeup: Wakeup) -> Taken:
        own = own_keys(self._at.roster.by_key.keys())

        def ask(looked_for: Collection[str]) -> Asked:
            running, now = self.running(hosted.id), self._at.clock.now()
            free = self.places_of_one() - len(running)
            most = 1 if hosted.gana.trigger in ONCE else max(1, free)
            return Asked(hosted, wakeup.surface, wakeup.due, now, own, running, looked_for, most)

        async def find(needs: Needs, timeout_s: float) -> None:
            await self._at.finder.look_up(needs, hosted.reads, timeout_s)

        async with self._locks[hosted.id]:
            if wakeup.due is None and len(self.running(hosted.id)) >= self.places_of_one():
                return Taken()  # closing one of them wakes again
            taken = await take(self._at.store, ask, find)
            first = ((taken.turn, taken.running),) if taken.turn and taken.running else ()
            for turn, running in (*first, *taken.others):
                # Entered under the lock, so that the next take sees it as under way.
                self._enter(turn, Progress(hosted, running, self._at.clock.now(), monotonic()))
        for held in taken.held:
            log.info("held: %s for %s: %s (%s)", held.note_id, hosted.id, held.reason, held.setting)
        self._at.counters["held"] += len(taken.held)
        return taken

    async def _nothing_taken(self, hosted: HostedGana, wakeup: Wakeup, taken: Taken) -> None:
        if taken.next_at is not None:
            self._at.wakeups.not_later(hosted.id, wakeup.surface, taken.next_at, wakeup.due)
        elif wakeup.due is not None:
            await self.move_timer_on(hosted.id, wakeup.surface, wakeup.due)
        elif not self.running(hosted.id):
            await self._at.store.write(lambda tx: self._settle(tx, hosted.id, wakeup.surface))

    def _settle(self, tx: sqlite3.Connection, gana: str, surface: str) -> None:
        """What waited may have been decided elsewhere: then the cursor goes over it here."""
        more = advance(tx, gana, surface, own_keys(self._at.roster.by_key.keys()))
        settle(tx, gana, surface, more=more)

    async def move_timer_on(self, gana: str, surface: str, due: int) -> None:
        now, zone = self._at.clock.now(), self._at.settings.timezone
        entry = await self._at.store.write(lambda tx: move_on(tx, gana, due, now, zone))
        if entry and entry.due != due:
            self._at.wakeups.at(gana, surface, entry.due, entry.due)

"""Lives of a host that end by force, and the account of where death found it."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import signal
from collections import Counter
from collections.abc import AsyncIterator, Callable, Collection
from dataclasses import dataclass, field
from pathlib import Path

from tests.force.ledger import Ledger
from tests.force.nursery import Child, Nursery
from tests.force.village import Village
from tests.force.wire import Wire

DRAIN_S = 90.0
STOP_S = 10.0
"""What `run` promises to need at most after SIGTERM."""


@dataclass
class Siege:
    village: Village
    nursery: Nursery
    wire: Wire
    hits: Counter[str] = field(default_factory=Counter)
    kills: int = 0
    inside: int = 0
    """Kills that fell inside a run or a send."""
    went_back: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.ledger = Ledger(self.village)
        self._cursors: dict[tuple[str, str], int] = {}

    async def start(
        self, failpoints: str = "", *, counted: bool = True, most_bytes: int | None = None
    ) -> Child:
        """`most_bytes`: as on a full disk, no file of the child grows beyond this."""
        self.village.new_life()
        self._log = self.village.folder / f"hits-{self.village.lives}.txt"
        environ = self.village.environ() | ({"UNIUN_BOTS_FAILPOINT_LOG": str(self._log)} if counted else {})
        if failpoints:
            environ["UNIUN_BOTS_FAILPOINTS"] = failpoints
        return await self.nursery.bear(["run", str(self.village.folder), "-v"], environ, most_bytes)

    async def post(self, count: int = 1) -> None:
        for _ in range(count):
            await self.wire.post(self.village.next_input())

    async def kill(self, child: Child) -> None:
        child.signal(signal.SIGKILL)
        await child.code
        self.account()

    async def stop(self, child: Child) -> None:
        """By SIGTERM; it ends in time, and clean once it hosts."""
        hosting = "(pid " in child.said.read_text()
        child.signal(signal.SIGTERM)
        assert await child.ended(STOP_S), (
            f"still there {STOP_S} s after SIGTERM: {child.said.read_text()[-2000:]}"
        )
        assert child.code.result() in ((0,) if hosting else (0, -signal.SIGTERM)), child.said.read_text()[
            -2000:
        ]

    def account(self) -> None:
        """After a death: what was under way, and whether a cursor went back."""
        hits = self.life_hits()
        self.hits += hits
        self.kills += 1
        if hits["taken"] > hits["closed"] or hits["sending"] > hits["receipted"]:
            self.inside += 1
        self.look_at_cursors()

    def life_hits(self) -> Counter[str]:
        return Counter(self._log.read_text().split() if self._log.exists() else ())

    def look_at_cursors(self) -> None:
        now = self.ledger.cursors()
        for key, before in self._cursors.items():
            if now.get(key, 0) < before:
                self.went_back.append(f"{key} went from {before} to {now.get(key)}")
        self._cursors = now

    async def settle(self, known: Collection[str] = ()) -> list[str]:
        """A last life without harm, until all is decided and sent. Returns what a promise forbids."""
        child = await self.start()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(DRAIN_S):
                await child.says("hosting")
                while (self.ledger.undecided() or self.ledger.unsent()) and not child.code.done():
                    await asyncio.sleep(0.05)
        await self.stop(child)
        return await self.faults(known)

    async def back_up(self, target: Path) -> None:
        child = await self.nursery.bear(["backup", str(target), "--dir", str(self.village.folder)], {})
        assert await child.ended(20)
        assert child.code.result() == 0, child.said.read_text()

    def restore(self, copy: Path) -> None:
        """As a person does whose disk is lost: the copy is all there is."""
        shutil.rmtree(self.village.database.parent)
        self.village.database.parent.mkdir()
        shutil.copy(copy, self.village.database)
        self._cursors = {}

    async def until(self, check: Callable[[], object], within_s: float = 20.0) -> None:
        async with asyncio.timeout(within_s):
            while not check():
                await asyncio.sleep(0.02)

    async def faults(self, known: Collection[str] = ()) -> list[str]:
        """What a promise forbids, with nobody hosting."""
        self.look_at_cursors()
        ours = [self.village.key_of(gana) for gana in self.village.bots]
        return self.went_back + self.ledger.faults(await self.wire.by(ours), known)


@contextlib.asynccontextmanager
async def besieged(
    folder: Path,
    seed: int,
    *,
    latency: tuple[int, int] = (50, 300),
    slots: int = 3,
    herald: bool = True,
    mode: str = "live",
) -> AsyncIterator[Siege]:
    """A village on a relay of its own process with a database, and nobody hosting it yet."""
    async with Nursery(folder) as nursery:
        relay = await nursery.bear(["relay", "--port", "0", "--db", str(folder / "relay")], {})
        assert await relay.says("listening "), relay.said.read_text()
        url = relay.said.read_text().split("listening ")[1].split()[0]
        village = Village(folder / "bots", url, seed, latency, slots, herald=herald, mode=mode)
        async with Wire(url) as wire:
            yield Siege(village, nursery, wire)

"""A village whose relays the host reaches through fault proxies only. People's own wires go straight to the relays."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.force.ledger import Ledger
from tests.force.village import Village
from tests.force.wire import Wire
from uniun_bots.clock import monotonic
from uniun_bots.host.host import Host
from uniun_bots.relays.fault_proxy import FaultProxy
from uniun_bots.relays.faults import Faults
from uniun_bots.relays.local import LocalRelay
from uniun_bots.relays.options import GatewayOptions
from uniun_bots.relays.relay_status import RelayStatus

HASTY = GatewayOptions(
    repair_every_s=0.5, quiet_s=0.5, answer_timeout_s=0.5, ok_timeout_s=0.5, connect_timeout_s=0.5
)
"""So that what takes a minute by default is seen in a test."""
SETTLED_S = 60.0


@dataclass
class Storm:
    village: Village
    wires: list[Wire]
    proxies: list[FaultProxy] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.ledger = Ledger(self.village)
        if self.proxies:
            self.name_relays()

    def name_relays(self, *settings: str) -> None:
        """What the relay set says about each, such as `auth: true`."""
        said = [*settings, *[""] * (len(self.proxies) - len(settings))]
        lines = [
            f"  - {{url: '{proxy.url}'{one and ', '}{one}}}"
            for proxy, one in zip(self.proxies, said, strict=True)
        ]
        (self.village.folder / "relays" / "local.yaml").write_text("\n".join(["relays:", *lines, ""]))

    def host(self, patience: GatewayOptions = HASTY) -> Host:
        self.village.new_life()
        return Host(self.village.folder, environ=self.village.environ(), debounce=False, patience=patience)

    async def blow(self, faults: Faults) -> None:
        for proxy in self.proxies:
            await proxy.set(faults)

    async def post(self, count: int = 1, *wires: Wire) -> None:
        """To each of these, without others to all."""
        for _ in range(count):
            event = self.village.next_input()
            for wire in wires or self.wires:
                await wire.post(event)

    async def settle(self, within_s: float = SETTLED_S) -> None:
        """Until every input is decided and everything was sent."""
        await until(lambda: not self.ledger.undecided() and not self.ledger.unsent(), within_s)

    async def faults(self) -> list[str]:
        """What a promise forbids, on any of the relays."""
        return [fault for wire in self.wires for fault in self.ledger.faults(await self.published(wire))]

    async def published(self, wire: Wire) -> dict[str, dict[str, Any]]:
        return await wire.by([self.village.key_of(gana) for gana in self.village.bots])


async def until(check: Callable[[], object], within_s: float = 20.0) -> None:
    """Wait for what lives in a store or in a connection and has no event of its own."""
    async with asyncio.timeout(within_s):
        while True:
            began = monotonic()
            if check():
                return
            # A dear check must not slow down what it waits for.
            await asyncio.sleep(max(0.02, 10 * (monotonic() - began)))


def readers(host: Host) -> Sequence[RelayStatus]:
    return host.house.gateway.status()


@contextlib.asynccontextmanager
async def brewing(folder: Path, seed: int, relays: int) -> AsyncIterator[Storm]:
    async with contextlib.AsyncExitStack() as stack:
        running = [await stack.enter_async_context(LocalRelay()) for _ in range(relays)]
        proxies = [await stack.enter_async_context(FaultProxy(relay.url, seed)) for relay in running]
        wires = [await stack.enter_async_context(Wire(relay.url)) for relay in running]
        yield Storm(Village(folder / "bots", proxies[0].url, seed, latency=(0, 20)), wires, proxies)

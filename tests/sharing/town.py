"""Local relays, and a gateway to all of them, for tests of what is fetched and published."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

from uniun_bots.clock import WallClock
from uniun_bots.nostr.event import Event
from uniun_bots.personas.relay_set import RelayAddress
from uniun_bots.relays.gateway import Gateway
from uniun_bots.relays.local import LocalRelay
from uniun_bots.relays.options import GatewayOptions
from uniun_bots.sharing.fetch import Where


@dataclass
class Town:
    urls: tuple[str, ...]
    door: Gateway

    @property
    def where(self) -> Where:
        return Where(self.door, self.urls)

    async def put(self, *events: Event, at: Sequence[int] = ()) -> None:
        """On all relays, or on those."""
        for event in events:
            urls = [self.urls[number] for number in at] or list(self.urls)
            receipts = await self.door.send(event.raw, urls, event.author)
            assert all(receipt.fate.delivered for receipt in receipts), receipts


@contextlib.asynccontextmanager
async def town_with(relays: int) -> AsyncIterator[Town]:
    async with contextlib.AsyncExitStack() as stack:
        urls = [(await stack.enter_async_context(LocalRelay())).url for _ in range(relays)]
        options = GatewayOptions(relays=tuple(RelayAddress(url=url) for url in urls), connect_timeout_s=2.0)
        yield Town(tuple(urls), await stack.enter_async_context(Gateway(options, WallClock())))

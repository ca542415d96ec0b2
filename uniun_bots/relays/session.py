"""One SDK client: the connections of one identity, and the reading of what they say."""

from __future__ import annotations

import asyncio
import itertools
import json
import logging
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

from nostr_sdk import Client, ClientBuilder, Proxy, RelayLimits, RelayOptions, RelayUrl

from uniun_bots.clock import Clock
from uniun_bots.errors import BadEvent, RelayError
from uniun_bots.nostr.read import from_sdk
from uniun_bots.nostr.signer import Signer
from uniun_bots.personas.relay_set import RelayAddress
from uniun_bots.relays.inbox import Inbox
from uniun_bots.relays.link import Link
from uniun_bots.relays.options import GatewayOptions

log = logging.getLogger(__name__)

IN_ONE_GO = 32
"""Notifications that are there already do not give way to anybody else by themselves."""


class Session:
    """Logs in as `signer`; without one it is the shared reader and writer of relays that want no login."""

    def __init__(
        self,
        options: GatewayOptions,
        proxy: str | None,
        clock: Clock,
        inbox: Inbox,
        signer: Signer | None,
        came_back: Callable[[str], None] | None,
    ) -> None:
        self.signer = signer
        self.links: dict[str, Link] = {}
        self._options, self._proxy, self._clock, self._inbox = options, proxy, clock, inbox
        self._came_back = came_back
        self._names: dict[str, str] = {}
        """The SDK's spelling of a URL to ours."""

    async def __aenter__(self) -> Self:
        places = self._options.notification_channel_size
        # Bursts come over the shared connection; there may be many of those that log in.
        builder = ClientBuilder().notification_channel_size(places if self.signer is None else places // 10)
        self._client: Client = builder.build()
        self._stream = self._client.notifications()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._client.shutdown()

    def link(self, address: RelayAddress) -> Link:
        """The connection to this relay; whoever gets a new one must run its `keep`."""
        if address.url not in self.links:
            url = RelayUrl.parse(address.url)
            self._names[str(url)] = address.url
            self.links[address.url] = Link(
                address, self.signer, self._options, self._clock, lambda: self._reopen(url), self._came_back
            )
        return self.links[address.url]

    async def _reopen(self, url: RelayUrl) -> Any:
        # A fresh object each time: what an old connection still does cannot touch the new one.
        if await self._client.relay(url) is not None:
            await self._client.remove_relay(url, force=True)
        # We connect, and come back, by ourselves: the SDK takes up to ten seconds to try again. How large an event
        # may be is decided and told at our border: the SDK drops those with more than 2,000 tags without a word.
        options = RelayOptions().reconnect(False).limits(RelayLimits().event_max_num_tags(None))
        if self._proxy:
            # Here and not on the client: options of one relay push those of the client aside.
            options = options.proxy(Proxy.all(self._proxy))
        await self._client.add_relay(url, opts=options)
        return await self._client.relay(url)

    async def read(self) -> None:
        """Until it is cancelled. Raises RelayError when the stream ends by itself: a host would go on deaf."""
        # Each new event comes twice, as itself and then as the message that carried it.
        carried: set[str] = set()
        for number in itertools.count(1):
            await self._inbox.room()
            if number % IN_ONE_GO == 0:
                await asyncio.sleep(0)
            said = await self._stream.next()
            if said is None or said.is_shutdown():
                raise RelayError(
                    "the connections to relays ended by themselves, which must not happen: start again"
                )
            url = self._url(said.relay_url)
            if said.is_new_event():
                carried.add(url)
                self._hear(url, said.subscription_id, said.event)
            elif url in carried:
                carried.discard(url)
            else:
                self._heed(url, said.message)

    def _url(self, url: RelayUrl) -> str:
        if len(self._names) == 1:
            return next(iter(self._names.values()))
        name = str(url)
        return self._names.get(name, name)

    def _hear(self, url: str, subscription_id: str, sdk_event: Any) -> None:
        try:
            event = from_sdk(sdk_event)
        except BadEvent as error:
            log.info("refused an event from %s: %s", url, error)
            # Counts as seen: no repair will bring it in a better shape.
            self._inbox.remember(sdk_event.id().to_hex())
            return
        self._inbox.put(event, url, self._clock.now())
        if link := self.links.get(url):
            link.on_event(subscription_id, event)

    def _heed(self, url: str, message: Any) -> None:
        link = self.links.get(url)
        if link is None:
            return
        # As for events: one call and a JSON parse instead of a call for each part.
        match json.loads(message.as_json()):
            case ["EVENT", subscription_id, {"id": event_id}]:
                self._see_again(link, subscription_id, event_id, message)
            case ["OK", event_id, accepted, text]:
                link.on_ok(event_id, accepted, text)
            case ["EOSE", subscription_id]:
                link.on_eose(subscription_id)
            case ["CLOSED", subscription_id, text]:
                link.on_closed(subscription_id, text)
            case ["NOTICE", text]:
                link.on_notice(text)
            case ["NEG-MSG", subscription_id, text]:
                link.on_word(subscription_id, text, "")
            case ["NEG-ERR", subscription_id, text]:
                link.on_word(subscription_id, "", text or "refused")
            case ["AUTH", challenge]:
                link.on_auth(challenge)

    def _see_again(self, link: Link, subscription_id: str, event_id: str, message: Any) -> None:
        """Not new to the SDK: a copy from another relay, an answer to a question, or one that we missed."""
        if link.talk.asks(subscription_id) or not self._inbox.knows(event_id):
            self._hear(link.url, subscription_id, message.as_enum().event)
        else:
            self._inbox.sight(event_id, link.url, self._clock.now())


async def proxy_address(proxy: str | None) -> str | None:
    """`socks5://host:port` as the address and port that the SDK wants; names are looked up once."""
    if not proxy:
        return None
    host, _, port = proxy.removeprefix("socks5h://").removeprefix("socks5://").rpartition(":")
    found = await asyncio.get_running_loop().getaddrinfo(host.strip("[]"), int(port))
    address = found[0][4][0]
    return f"[{address}]:{port}" if ":" in str(address) else f"{address}:{port}"

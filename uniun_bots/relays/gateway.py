"""The door to all relays: watch, hear, send, fetch."""

from __future__ import annotations

import asyncio
import json
import logging
import random
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from types import TracebackType
from typing import Self

from nostr_sdk import Event as SdkEvent
from nostr_sdk import NostrSdkError, uniffi_set_event_loop

from uniun_bots.clock import Clock, monotonic
from uniun_bots.nostr.event import Event
from uniun_bots.nostr.filter import Filter
from uniun_bots.nostr.signer import LocalSigner
from uniun_bots.personas.relay_set import RelayAddress, relay_url
from uniun_bots.relays.fast_border import speed_up
from uniun_bots.relays.heard import Heard, Sighting
from uniun_bots.relays.inbox import Inbox
from uniun_bots.relays.information import Information, Informer
from uniun_bots.relays.interest import Interest
from uniun_bots.relays.link import Link
from uniun_bots.relays.marks import Marks, MemoryMarks
from uniun_bots.relays.mend import Mender
from uniun_bots.relays.options import GatewayOptions
from uniun_bots.relays.receipt import Fate, Receipt
from uniun_bots.relays.relay_status import RelayStatus
from uniun_bots.relays.repair import KnownIds, Tools
from uniun_bots.relays.session import Session, proxy_address
from uniun_bots.relays.talk import Said

log = logging.getLogger(__name__)


async def nothing_known(_filter: Filter, _since: int) -> list[tuple[str, int]]:
    """For gateways without a store."""
    return []


class Gateway:
    """`async with Gateway(...) as gateway`. Nothing that a relay does is raised here."""

    def __init__(
        self,
        options: GatewayOptions,
        clock: Clock,
        known: KnownIds = nothing_known,
        signers: Mapping[str, LocalSigner] | None = None,
        marks: Marks | None = None,
        came_back: Callable[[str], None] | None = None,
    ) -> None:
        """`signers` by public key; `came_back` is told the URL of each relay that is reached (again)."""
        self._options, self._clock = options, clock
        self._signers = dict(signers or {})
        self._addresses = {address.url: address for address in options.relays}
        self._inbox = Inbox()
        self._tools = Tools(known, marks or MemoryMarks(), self._inbox, clock, options.overlap_s)
        self._came_back = came_back
        self._sessions: dict[str, Session] = {}
        self._menders: dict[tuple[str, str], Mender] = {}
        self._informer = Informer(clock, proxied=options.proxy is not None)
        self._tasks: list[asyncio.Task[None]] = []
        self._random = random.Random()  # noqa: S311

    async def __aenter__(self) -> Self:
        # Without this line, what the SDK calls back from its threads ends as a timeout somewhere else.
        uniffi_set_event_loop(asyncio.get_running_loop())
        speed_up()
        self._proxy = await proxy_address(self._options.proxy)
        self._stack = AsyncExitStack()
        await self._stack.enter_async_context(self._informer)
        self._group = asyncio.TaskGroup()
        await self._group.__aenter__()
        for address in self._options.relays:
            if not address.auth:
                await self._mender(address.url, "")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for task in self._tasks:
            task.cancel()
        try:
            # What the body raised is its own: the group would wrap it into an ExceptionGroup.
            await self._group.__aexit__(None, None, None)
        finally:
            await self._stack.aclose()

    async def watch(self, interests: Sequence[Interest]) -> None:
        """From now on exactly these are heard; what is new among them is read back to its `since`."""
        wanted: dict[tuple[str, str], list[Interest]] = {key: [] for key in self._menders}
        for interest in interests:
            for url in map(relay_url, interest.relays):
                wanted.setdefault((url, self._identity(url, interest.reader)), []).append(interest)
        for (url, identity), some in wanted.items():
            (await self._mender(url, identity)).want(some)

    def admit(self, addresses: Iterable[RelayAddress], signers: Mapping[str, LocalSigner]) -> None:
        """After a reload: relays and identities that came along. Connections that nobody wants stay open."""
        self._addresses.update({address.url: address for address in addresses})
        self._signers.update(signers)

    async def caught_up(self, timeout_s: float) -> bool:
        """Wait until every relay that is read told what we missed; False when some did not in time."""
        waits = [
            asyncio.ensure_future(mender.whole.wait()) for mender in self._menders.values() if mender.wants
        ]
        if not waits:
            return True
        _, late = await asyncio.wait(waits, timeout=timeout_s)
        for wait in late:
            wait.cancel()
        return not late

    def backlog(self) -> int:
        """Events that were heard and not taken yet."""
        return len(self._inbox)

    async def hear(self) -> list[Heard]:
        """The next 1 to 512 events, verified and parsed; each event once. Waits for the first."""
        return await self._inbox.take()

    def sightings(self) -> list[Sighting]:
        """Further relays that carried an event since the last call."""
        return self._inbox.take_sightings()

    async def send(self, raw: bytes, relays: Sequence[str], author: str) -> list[Receipt]:
        """One receipt per relay, in the order given; all at once, each within its own deadlines."""
        event = SdkEvent.from_json(raw.decode())
        event_id: str = json.loads(raw)["id"]
        # Its echo from our own subscriptions is no news.
        self._inbox.remember(event_id)
        each = [self._send(event, event_id, url, author) for url in relays]
        said = [await each[0]] if len(each) == 1 else await asyncio.gather(*each)
        return [
            Receipt(event_id, url, one.fate, one.message, self._clock.now())
            for url, one in zip(relays, said, strict=True)
        ]

    async def fetch(
        self, filters: Sequence[Filter], relays: Sequence[str] | None = None, timeout_s: float = 5.0
    ) -> list[Event]:
        """What these relays (or all that are read) have, each event once; what came until the deadline.

        One that is away is waited for only while no other is there.
        """
        urls = relays if relays is not None else [a.url for a in self._addresses.values() if a.read]
        links = [await self._reader(url) for url in urls]
        links = [link for link in links if not link.away] or links
        found: dict[str, Event] = {}
        deadline = monotonic() + timeout_s
        await asyncio.gather(*(self._fetch(link, one, deadline, found) for link in links for one in filters))
        return list(found.values())

    async def fetch_whole(
        self, filters: Sequence[Filter], relay: str, timeout_s: float = 5.0
    ) -> list[Event] | None:
        """All that this relay has of it; None when it did not say so in time."""
        found: dict[str, Event] = {}
        deadline = monotonic() + timeout_s
        link = await self._reader(relay)
        said = await asyncio.gather(*(self._fetch(link, one, deadline, found) for one in filters))
        return list(found.values()) if all(said) else None

    def status(self) -> list[RelayStatus]:
        return [mender.status() for mender in self._menders.values()]

    async def information(self, url: str) -> Information | None:
        """What the relay says about itself (NIP-11); None when it does not, or behind a proxy."""
        return await self._informer.ask(url)

    async def _send(self, event: SdkEvent, event_id: str, url: str, author: str) -> Said:
        try:
            url = relay_url(url)
            mender = await self._mender(url, self._identity(url, author, strict=True))
        except (ValueError, NostrSdkError) as error:
            return Said(Fate.UNREACHABLE, f"{url} {error}")
        return await mender.link.send(event, event_id)

    async def _reader(self, url: str) -> Link:
        url = relay_url(url)
        return (await self._mender(url, self._identity(url, ""))).link

    async def _fetch(self, link: Link, wanted: Filter, deadline: float, found: dict[str, Event]) -> bool:
        """Whether the relay told all it has."""
        try:
            async with asyncio.timeout(max(deadline - monotonic(), 0.0)):
                await link.up.wait()
        except TimeoutError:
            return False
        answer = await link.ask(wanted, max(deadline - monotonic(), 0.01))
        found.update({event.id: event for event in answer.events if wanted.matches(event)})
        return answer.complete

    def _identity(self, url: str, wanted: str, strict: bool = False) -> str:
        """Whose connection to use: the shared one (empty) unless this relay may demand a login."""
        address = self._addresses.get(url)
        if address is None or not address.auth or not self._signers:
            return ""
        if wanted in self._signers:
            return wanted
        return "" if strict else next(iter(self._signers))

    async def _mender(self, url: str, identity: str) -> Mender:
        if (url, identity) not in self._menders:
            session = await self._session(identity)
            if (url, identity) in self._menders:
                return self._menders[url, identity]
            link = session.link(self._addresses.get(url) or RelayAddress(url=url))
            mender = Mender(link, self._tools, self._options, self._random)
            self._menders[url, identity] = mender
            self._start(link.keep(), mender.run())
        return self._menders[url, identity]

    async def _session(self, identity: str) -> Session:
        if identity not in self._sessions:
            session = Session(
                self._options,
                self._proxy,
                self._clock,
                self._inbox,
                self._signers.get(identity),
                self._came_back,
            )
            self._sessions[identity] = await self._stack.enter_async_context(session)
            self._start(session.read())
        return self._sessions[identity]

    def _start(self, *loops: Coroutine[None, None, None]) -> None:
        self._tasks += [self._group.create_task(loop) for loop in loops]

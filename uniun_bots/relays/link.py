"""One relay, as one identity: connected for as long as the host runs, whatever the relay does."""

from __future__ import annotations

import asyncio
import itertools
import json
import logging
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from nostr_sdk import ClientMessage, NostrSdkError
from nostr_sdk import Event as SdkEvent
from nostr_sdk import Filter as SdkFilter
from nostr_sdk import RelayStatus as SdkStatus

from uniun_bots.clock import Clock, monotonic
from uniun_bots.nostr.event import Event
from uniun_bots.nostr.filter import Filter
from uniun_bots.nostr.signer import Signer
from uniun_bots.personas.relay_set import RelayAddress
from uniun_bots.relays.ask import Answer, Ask
from uniun_bots.relays.backoff import Backoff
from uniun_bots.relays.fates import prefix_of, read_fate
from uniun_bots.relays.login import Login
from uniun_bots.relays.options import GatewayOptions
from uniun_bots.relays.receipt import Fate
from uniun_bots.relays.subscriptions import Subscriptions

log = logging.getLogger(__name__)

LOOK_EVERY_S = 0.2
STEADY_S = 10.0
"""A connection that lasts this long ends the outage before it; a shorter one is part of it."""
BURST = 500
"""Events within one look that make us read the relay again once it is quiet: live streams drop some."""

UNKNOWN_WORD = ("neg", "unknown", "unrecogni", "unsupported", "cmd", "command", "message type")
"""How relays without NIP-77 complain about it."""

Reopen = Callable[[], Awaitable[Any]]


@dataclass(frozen=True, slots=True)
class Said:
    """A relay's OK, or that there was none."""

    fate: Fate
    message: str


class Link:
    def __init__(
        self,
        address: RelayAddress,
        signer: Signer | None,
        options: GatewayOptions,
        clock: Clock,
        reopen: Reopen,
        came_back: Callable[[str], None] | None = None,
    ) -> None:
        self.url = address.url
        self.reader = signer.public_key if signer else ""
        self.subscriptions = Subscriptions()
        self.negentropy: bool | None = None
        self.comparing = False
        """We said a word of NIP-77 to a relay that may not know it: a NOTICE is about that."""
        self.torn = asyncio.Event()
        """Something may have been missed."""
        self.up = asyncio.Event()
        self.attempts = 0
        self.changed_at: float | None = None
        self.last_error = ""
        self.last_notice = ""
        self._options, self._clock, self._reopen, self._came_back = options, clock, reopen, came_back
        self._login = Login(self.url, address.auth, signer)
        self._backoff = Backoff()
        self._relay: Any = None
        self._asks: dict[str, Ask] = {}
        self._oks: dict[str, list[asyncio.Future[Said]]] = {}
        self._ask_ids = itertools.count(1)
        self._tried = asyncio.Event()
        self._nudged = asyncio.Event()
        self._logging_in = asyncio.Lock()
        self._events = 0
        self._silent_times = 0

    # --- what the reader of the socket tells us (never awaits) ---

    def on_event(self, subscription_id: str, event: Event) -> None:
        self._events += 1
        if ask := self._asks.get(subscription_id):
            ask.add(event)
        else:
            self.subscriptions.heard(subscription_id)

    def asks(self, subscription_id: str) -> bool:
        return subscription_id in self._asks

    def on_eose(self, subscription_id: str) -> None:
        if ask := self._asks.get(subscription_id):
            ask.end()
        else:
            self.subscriptions.heard(subscription_id)

    def on_closed(self, subscription_id: str, message: str) -> None:
        if ask := self._asks.get(subscription_id):
            ask.end(message or "closed by the relay")
        elif self.subscriptions.closed(subscription_id, message, monotonic()):
            log.info("refused %s %s: %s", self.url, subscription_id, message)
            self._nudged.set()

    def on_ok(self, event_id: str, accepted: bool, message: str) -> None:
        said = Said(read_fate(accepted, message), message)
        if not accepted and said.fate is Fate.DUPLICATE:
            log.warning("%s says no to a duplicate; it has the event, so that counts as sent", self.url)
        self._answer_oks(event_id, said)

    def on_notice(self, message: str) -> None:
        log.info("notice %s: %s", self.url, message[:500])
        if not (self.comparing and any(word in message.lower() for word in UNKNOWN_WORD)):
            self.last_notice = message[:500]

    def on_auth(self, challenge: str) -> None:
        self._login.challenged(challenge)
        if self._login.wanted:
            self._nudged.set()

    # --- what the rooms above ask of us ---

    def want(self, filters: list[Filter]) -> None:
        self.subscriptions.want(filters)
        self._nudged.set()

    def unconfirmed(self) -> tuple[str, ...]:
        return self.subscriptions.unconfirmed(monotonic(), self._options.answer_timeout_s)

    async def ask(self, wanted: Filter, timeout_s: float | None = None) -> Answer:
        """Stored events; logs in once where that is the condition."""
        logins = self._login.times
        answer = await self._ask_once(wanted, timeout_s)
        if prefix_of(answer.reason) == Fate.AUTH_REQUIRED and await self._log_in(logins):
            return await self._ask_once(wanted, timeout_s)
        return answer

    async def send(self, event: SdkEvent, event_id: str) -> Said:
        await self._tried.wait()
        if not self.up.is_set():
            return Said(Fate.UNREACHABLE, self.last_error or "not connected")
        logins = self._login.times
        said = await self._say(ClientMessage.event(event), event_id)
        if said.fate is Fate.AUTH_REQUIRED and await self._log_in(logins):
            return await self._say(ClientMessage.event(event), event_id)
        return said

    @property
    def sdk_relay(self) -> Any:
        return self._relay

    def received_bytes(self) -> int:
        return int(self._relay.stats().bytes_received()) if self._relay is not None else 0

    async def keep(self) -> None:
        """Connect, tend the connection until it is lost, and again."""
        down_since = monotonic()
        while True:
            self._relay = await self._reopen()
            if not await self._connect():
                self._tried.set()
                await self._wait(down_since)
                continue
            up_since = monotonic()
            self._begin()
            try:
                await self._tend()
            finally:
                self._end()
            if monotonic() - up_since >= STEADY_S:
                down_since = monotonic()
            await self._wait(down_since)

    async def _wait(self, down_since: float) -> None:
        await asyncio.sleep(self._backoff.delay_s(monotonic() - down_since))

    async def _connect(self) -> bool:
        self.attempts += 1
        try:
            await self._relay.try_connect(timeout=timedelta(seconds=self._options.connect_timeout_s))
        except NostrSdkError as error:
            if self.last_error != (text := _words(error)):
                log.info("away %s: %s", self.url, text)
            self.last_error = text
        return bool(self._relay.status() == SdkStatus.CONNECTED)

    def _begin(self) -> None:
        log.info("connected %s", self.url)
        self.last_error = ""
        self.changed_at = self._clock.now()
        self._login.begin()
        self.subscriptions.begin()
        self.up.set()
        self._tried.set()
        self.torn.set()
        self._nudged.set()
        if self._came_back:
            self._came_back(self.url)

    def _end(self) -> None:
        log.info("lost %s", self.url)
        self.up.clear()
        self.changed_at = self._clock.now()
        for ask in self._asks.values():
            ask.end("the connection was lost")
        for event_id in list(self._oks):
            self._answer_oks(event_id, Said(Fate.UNANSWERED, "the connection was lost before an answer"))

    async def _tend(self) -> None:
        quiet_since, bytes_before, burst = monotonic(), -1, False
        while self._relay.status() == SdkStatus.CONNECTED:
            await self._speak()
            await self._nudge(LOOK_EVERY_S)
            events, self._events = self._events, 0
            if burst and not events:
                self.torn.set()
            burst = events > BURST or (burst and events > 0)
            if (now_bytes := self.received_bytes()) != bytes_before:
                quiet_since, bytes_before = monotonic(), now_bytes
            elif monotonic() - quiet_since > self._patience_s():
                if not await self._is_alive():
                    return
                quiet_since = monotonic()

    def _patience_s(self) -> float:
        # A relay that never answers is not hung up on every few seconds.
        return self._options.quiet_s * float(1 << min(self._silent_times, 5))

    async def _is_alive(self) -> bool:
        """A socket may be half open: it looks connected and carries nothing. Only an answer proves it."""
        before = self.received_bytes()
        answer = await self._ask_once(Filter(ids=(secrets.token_hex(32),), limit=1), None)
        if answer.complete or self.received_bytes() != before:
            self._silent_times = 0
            return True
        self._silent_times += 1
        self.last_error = "connected, and silent"
        log.warning("silent %s: no word to a question, connecting anew", self.url)
        return False

    async def _speak(self) -> None:
        """Send what waits: CLOSE, a login, REQ."""
        wanted = self.subscriptions.want_login() or self._login.wanted
        if wanted and not await self._log_in(self._login.times):
            self.subscriptions.refuse(self._login.refusal)
        for gone in self.subscriptions.dropped():
            await self._tell(ClientMessage.close(gone))
        for due in self.subscriptions.due(monotonic()):
            # Old events are the repair's business. `since` would hide live ones that are dated back.
            await self._tell(ClientMessage.req(due.id, _sdk_filter(due.filter.within(limit=0))))
            if due.closes:
                self.torn.set()

    async def _nudge(self, most_s: float) -> None:
        try:
            async with asyncio.timeout(most_s):
                await self._nudged.wait()
        except TimeoutError:
            return
        self._nudged.clear()

    async def _ask_once(self, wanted: Filter, timeout_s: float | None) -> Answer:
        if not self.up.is_set():
            return Answer((), complete=False, reason=self.last_error or "not connected")
        name = f"ask-{next(self._ask_ids)}"
        ask = self._asks[name] = Ask()
        try:
            await self._tell(ClientMessage.req(name, _sdk_filter(wanted)))
            return await ask.answer(timeout_s or self._options.answer_timeout_s)
        finally:
            del self._asks[name]
            if self.up.is_set():
                await self._tell(ClientMessage.close(name))

    async def _log_in(self, before: int) -> bool:
        """Waits for the relay's OK. `before`: how many logins there had been when one was demanded."""
        async with self._logging_in:
            if self._login.times > before:
                return True
            event = await self._login.sign(self._clock.now())
            if event is None:
                return False
            sdk_event = SdkEvent.from_json(event.raw.decode())
            said = await self._say(ClientMessage.auth(sdk_event), event.id)
            if said.fate.delivered:
                log.info("logged in %s as %s", self.url, self.reader)
                self._login.times += 1
                self.subscriptions.logged_in()
                return True
            self._login.refusal = f"{self.url} refused the login: {said.message}"
            log.warning("refused %s", self._login.refusal)
            return False

    async def _say(self, message: ClientMessage, event_id: str) -> Said:
        future: asyncio.Future[Said] = asyncio.get_running_loop().create_future()
        waiting = self._oks.setdefault(event_id, [])
        waiting.append(future)
        try:
            if not await self._tell(message):
                return Said(Fate.UNREACHABLE, self.last_error or "not connected")
            async with asyncio.timeout(self._options.ok_timeout_s):
                return await future
        except TimeoutError:
            return Said(Fate.UNANSWERED, f"no OK within {self._options.ok_timeout_s:g} s")
        finally:
            waiting.remove(future)
            if not waiting and self._oks.get(event_id) is waiting:
                del self._oks[event_id]

    def _answer_oks(self, event_id: str, said: Said) -> None:
        for future in self._oks.get(event_id, ()):
            if not future.done():
                future.set_result(said)

    async def _tell(self, message: ClientMessage) -> bool:
        try:
            await self._relay.send_msg(message)
        except NostrSdkError as error:
            self.last_error = _words(error)
            return False
        return True


def _sdk_filter(wanted: Filter) -> SdkFilter:
    return SdkFilter.from_json(json.dumps(wanted.as_json_object()))


def _words(error: NostrSdkError) -> str:
    """The SDK shows its messages quoted."""
    return str(error).strip("'\"")

"""One relay, as one identity: connected for as long as the host runs, whatever the relay does."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

from nostr_sdk import ClientMessage, NostrSdkError
from nostr_sdk import Event as SdkEvent
from nostr_sdk import RelayStatus as SdkStatus

from uniun_bots.clock import Clock, monotonic
from uniun_bots.errors import UniunError
from uniun_bots.nostr.event import Event
from uniun_bots.nostr.filter import Filter
from uniun_bots.nostr.signer import Signer
from uniun_bots.personas.relay_set import RelayAddress
from uniun_bots.relays.ask import Answer
from uniun_bots.relays.backoff import Backoff
from uniun_bots.relays.fates import prefix_of
from uniun_bots.relays.login import Login
from uniun_bots.relays.nagle import turn_off_nagle
from uniun_bots.relays.negentropy import Negentropy
from uniun_bots.relays.options import GatewayOptions
from uniun_bots.relays.receipt import Fate
from uniun_bots.relays.subscriptions import Subscriptions
from uniun_bots.relays.talk import Said, Talk, Word, ok_of, req, words_of

log = logging.getLogger(__name__)

LOOK_EVERY_S = 0.2
STEADY_S = 10.0
"""A connection that lasts this long ends the outage before it; one that is shorter only interrupts it."""
BURST = 100
"""Events within one look that make us read the relay again once it is quiet: live streams drop some."""
FIRST_COMPARISON_S = 2.5
"""How long a relay may take to show that it has NIP-77; the start waits for it."""
LISTENING_S = 2.5
"""How long a relay may take to answer a REQ before its past is read all the same: some never say EOSE."""
UNKNOWN_WORD = ("neg", "unknown", "unrecogni", "unsupported", "cmd", "command", "message type")
"""How relays without NIP-77 complain about it."""

Reopen = Callable[[], Awaitable[Any]]


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
        """Whether the relay has NIP-77; None: not known yet."""
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
        self._take(None)
        self._tried = asyncio.Event()
        self._nudged = asyncio.Event()
        self._answered = asyncio.Event()
        self._logging_in = asyncio.Lock()
        self._events = 0
        self._silent_times = 0

    # What the reader of the socket tells us; nothing here waits.

    def on_event(self, subscription_id: str, event: Event) -> None:
        self._events += 1
        if not self.talk.on_event(subscription_id, event) and self.subscriptions.heard(subscription_id):
            self._answered.set()

    def on_eose(self, subscription_id: str) -> None:
        if not self.talk.on_end(subscription_id) and self.subscriptions.heard(subscription_id):
            self._answered.set()

    def on_closed(self, subscription_id: str, message: str) -> None:
        if self.talk.on_end(subscription_id, message or "closed by the relay"):
            return
        if self.subscriptions.closed(subscription_id, message, monotonic()):
            log.info("refused %s %s: %s", self.url, subscription_id, message)
            self._answered.set()
            self._nudged.set()

    def on_ok(self, event_id: str, accepted: bool, message: str) -> None:
        said = ok_of(accepted, message)
        if not accepted and said.fate is Fate.DUPLICATE:
            log.warning("%s says no to a duplicate; it has the event, so that counts as sent", self.url)
        self.talk.on_ok(event_id, said)

    def on_word(self, subscription_id: str, message: str, obstacle: str) -> None:
        self.talk.on_word(subscription_id, Word(message, obstacle))

    def on_notice(self, message: str) -> None:
        message = message[:500]
        log.info("notice %s: %s", self.url, message)
        about_comparing = self.negentropy is None and any(word in message.lower() for word in UNKNOWN_WORD)
        if not (about_comparing and self.talk.give_up_comparing(message)):
            self.last_notice = message

    def on_auth(self, challenge: str) -> None:
        self._login.challenged(challenge)
        if self._login.wanted:
            self._nudged.set()

    # What the rooms above ask of us.

    def want(self, filters: list[Filter]) -> None:
        self.subscriptions.want(filters)
        self._nudged.set()

    @property
    def away(self) -> bool:
        """It was tried and is not there."""
        return self._tried.is_set() and not self.up.is_set()

    def unconfirmed(self) -> tuple[str, ...]:
        return self.subscriptions.unconfirmed(monotonic(), self._options.answer_timeout_s)

    async def listening(self) -> None:
        """Until the relay sends what comes from now on: reading its past any earlier would leave a gap."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LISTENING_S):
                while self.up.is_set() and self.subscriptions.unanswered(monotonic(), LISTENING_S):
                    self._answered.clear()
                    await self._answered.wait()

    async def ask(self, wanted: Filter, timeout_s: float | None = None) -> Answer:
        """Stored events; logs in once where that is the condition."""
        if not self.up.is_set():
            return Answer((), complete=False, reason=self.last_error or "not connected")
        logins = self._login.times
        answer = await self.talk.ask(wanted, timeout_s)
        if prefix_of(answer.reason) == Fate.AUTH_REQUIRED and await self._log_in(logins):
            return await self.talk.ask(wanted, timeout_s)
        return answer

    async def compare(self, window: Filter, ours: Negentropy) -> str:
        """As `Talk.compare`."""
        logins = self._login.times
        # Some relays say nothing to a word that they do not know.
        patience_s = None if self.negentropy else min(FIRST_COMPARISON_S, self._options.answer_timeout_s)
        obstacle = await self.talk.compare(window, ours, patience_s)
        if prefix_of(obstacle) == Fate.AUTH_REQUIRED and await self._log_in(logins):
            return await self.talk.compare(window, ours, patience_s)
        return obstacle

    async def send(self, event: SdkEvent, event_id: str) -> Said:
        await self._tried.wait()
        if not self.up.is_set():
            return Said(Fate.UNREACHABLE, self.last_error or "not connected")
        logins = self._login.times
        said = await self.talk.say(ClientMessage.event(event), event_id)
        if said.fate is Fate.AUTH_REQUIRED and await self._log_in(logins):
            return await self.talk.say(ClientMessage.event(event), event_id)
        return said

    async def keep(self) -> None:
        """Connect, tend the connection until it is lost, and again."""
        down_since = monotonic()
        while True:
            if await self._connect():
                up_since = monotonic()
                self._begin()
                try:
                    await asyncio.to_thread(turn_off_nagle)
                    await self._tend()
                finally:
                    self._end()
                up_s = monotonic() - up_since
                down_since = monotonic() if up_s >= STEADY_S else down_since + up_s
            self._tried.set()
            await asyncio.sleep(self._backoff.delay_s(monotonic() - down_since))

    def _take(self, relay: Any) -> None:
        self._relay = relay
        self.talk = Talk(relay, self._options.answer_timeout_s, self._options.ok_timeout_s)

    async def _connect(self) -> bool:
        self.attempts += 1
        try:
            self._take(await self._reopen())
            await self._relay.try_connect(timeout=timedelta(seconds=self._options.connect_timeout_s))
        except NostrSdkError as error:
            if self.last_error != (text := words_of(error)):
                log.info("away %s: %s", self.url, text)
            self.last_error = text
        return self._is_connected()

    def _is_connected(self) -> bool:
        return self._relay is not None and bool(self._relay.status() == SdkStatus.CONNECTED)

    def _begin(self) -> None:
        log.info("connected %s", self.url)
        self.last_error = ""
        self.changed_at = self._clock.now()
        self.negentropy = None
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
        self._answered.set()
        self.changed_at = self._clock.now()
        self.talk.end()

    async def _tend(self) -> None:
        quiet_since, bytes_before, burst = monotonic(), -1, False
        while self._is_connected():
            await self._speak()
            await self._nudge(LOOK_EVERY_S)
            events, self._events = self._events, 0
            if burst and not events:
                self.torn.set()
            burst = events > BURST or (burst and events > 0)
            if (now_bytes := self._received_bytes()) != bytes_before:
                quiet_since, bytes_before = monotonic(), now_bytes
            elif monotonic() - quiet_since > self._patience_s():
                if not await self._is_alive():
                    return
                quiet_since = monotonic()

    def _received_bytes(self) -> int:
        return int(self._relay.stats().bytes_received())

    def _patience_s(self) -> float:
        # A relay that never answers is not hung up on every few seconds.
        return self._options.quiet_s * float(1 << min(self._silent_times, 5))

    async def _is_alive(self) -> bool:
        """A socket may be half open: it looks connected and carries nothing. Only an answer proves it."""
        before = self._received_bytes()
        answer = await self.talk.ask(Filter(ids=(secrets.token_hex(32),), limit=1))
        if answer.complete or self._received_bytes() != before:
            self._silent_times = 0
            return True
        self._silent_times += 1
        self.last_error = "connected, and silent"
        log.warning("silent %s: no word to a question, connecting anew", self.url)
        return False

    async def _speak(self) -> None:
        """Send what waits: a login, CLOSE, REQ."""
        wanted = self.subscriptions.want_login() or self._login.wanted
        if wanted and not await self._log_in(self._login.times):
            self.subscriptions.refuse(self._login.refusal)
        for gone in self.subscriptions.dropped():
            await self.talk.tell(ClientMessage.close(gone))
        for due in self.subscriptions.due(monotonic()):
            # Old events are the repair's business. `since` would hide live ones that are dated back.
            await self.talk.tell(req(due.id, *(one.within(limit=0) for one in due.filters)))
            if due.closes:
                self.torn.set()

    async def _nudge(self, most_s: float) -> None:
        try:
            async with asyncio.timeout(most_s):
                await self._nudged.wait()
        except TimeoutError:
            return
        self._nudged.clear()

    async def _log_in(self, before: int) -> bool:
        """Waits for the relay's OK. `before`: how many logins there had been when one was demanded."""
        async with self._logging_in:
            if self._login.times > before:
                return True
            try:
                event = await self._login.sign(self._clock.now())
            except UniunError as error:
                self._login.refusal = f"no login to {self.url}: {error}"
                event = None
            if event is None:
                return False
            message = ClientMessage.auth(SdkEvent.from_json(event.raw.decode()))
            said = await self.talk.say(message, event.id)
            if said.fate.delivered:
                log.info("logged in %s as %s", self.url, self.reader)
                self._login.times += 1
                self.subscriptions.logged_in()
                return True
            self._login.refusal = f"{self.url} refused the login: {said.message}"
            log.warning("refused %s", self._login.refusal)
            return False

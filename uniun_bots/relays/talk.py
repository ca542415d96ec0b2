"""Question and answer over one connection: REQ and EOSE, EVENT and OK, NEG-OPEN and NEG-MSG."""

from __future__ import annotations

import asyncio
import itertools
import json
from dataclasses import dataclass
from typing import Any

from nostr_sdk import ClientMessage, NostrSdkError

from uniun_bots.nostr.event import Event
from uniun_bots.nostr.filter import Filter
from uniun_bots.relays.ask import Answer, Ask
from uniun_bots.relays.fates import read_fate
from uniun_bots.relays.negentropy import Negentropy
from uniun_bots.relays.receipt import Fate

LOST = "the connection was lost"
MOST_ASKS = 4
"""At once: with the live REQs, fewer than the twenty that relays commonly allow."""
MOST_ROUNDS = 200
"""Of one comparison; each cuts what differs into sixteen."""


@dataclass(frozen=True, slots=True)
class Said:
    """A relay's OK, or that there was none."""

    fate: Fate
    message: str


@dataclass(frozen=True, slots=True)
class Word:
    """A NEG-MSG, or why there will be none."""

    message: str = ""
    obstacle: str = ""


class Talk:
    def __init__(self, relay: Any, answer_timeout_s: float, ok_timeout_s: float) -> None:
        self.error = ""
        self._relay = relay
        self._answer_timeout_s, self._ok_timeout_s = answer_timeout_s, ok_timeout_s
        self._asks: dict[str, Ask] = {}
        self._oks: dict[str, list[asyncio.Future[Said]]] = {}
        self._comparisons: dict[str, asyncio.Queue[Word]] = {}
        self._numbers = itertools.count(1)
        self._places = asyncio.Semaphore(MOST_ASKS)
        self._over = False

    def asks(self, subscription_id: str) -> bool:
        return subscription_id in self._asks

    def on_event(self, subscription_id: str, event: Event) -> bool:
        if ask := self._asks.get(subscription_id):
            ask.add(event)
        return ask is not None

    def on_end(self, subscription_id: str, reason: str = "") -> bool:
        """EOSE without a reason, CLOSED with one. Whether it was about a question of ours."""
        if ask := self._asks.get(subscription_id):
            ask.end(reason)
        return ask is not None

    def on_ok(self, event_id: str, said: Said) -> None:
        for future in self._oks.get(event_id, ()):
            if not future.done():
                future.set_result(said)

    def on_word(self, subscription_id: str, word: Word) -> None:
        if comparison := self._comparisons.get(subscription_id):
            comparison.put_nowait(word)

    def give_up_comparing(self, obstacle: str) -> bool:
        """Whether there was a comparison to give up."""
        for comparison in self._comparisons.values():
            comparison.put_nowait(Word(obstacle=obstacle))
        return bool(self._comparisons)

    def end(self) -> None:
        """Nothing will be answered any more."""
        self._over = True
        for ask in self._asks.values():
            ask.end(LOST)
        for event_id in list(self._oks):
            self.on_ok(event_id, Said(Fate.UNANSWERED, f"{LOST} before an answer"))
        self.give_up_comparing(LOST)

    async def tell(self, message: ClientMessage) -> bool:
        try:
            await self._relay.send_msg(message)
        except NostrSdkError as error:
            self.error = words_of(error)
            return False
        return True

    async def ask(self, wanted: Filter, timeout_s: float | None = None) -> Answer:
        timeout_s = timeout_s or self._answer_timeout_s
        try:
            async with asyncio.timeout(timeout_s):
                await self._places.acquire()
        except TimeoutError:
            return Answer((), complete=False, reason=f"{MOST_ASKS} questions are waiting for answers")
        try:
            return await self._ask(wanted, timeout_s)
        finally:
            self._places.release()

    async def _ask(self, wanted: Filter, timeout_s: float) -> Answer:
        name = f"ask-{next(self._numbers)}"
        ask = self._asks[name] = Ask()
        try:
            if self._over or not await self.tell(req(name, wanted)):
                ask.end(self.error or LOST)
            return await ask.answer(timeout_s)
        finally:
            del self._asks[name]
            if not self._over:
                await self.tell(ClientMessage.close(name))

    async def say(self, message: ClientMessage, event_id: str) -> Said:
        """An EVENT or AUTH, and the OK to it."""
        future: asyncio.Future[Said] = asyncio.get_running_loop().create_future()
        waiting = self._oks.setdefault(event_id, [])
        waiting.append(future)
        try:
            if self._over or not await self.tell(message):
                return Said(Fate.UNREACHABLE, self.error or LOST)
            async with asyncio.timeout(self._ok_timeout_s):
                return await future
        except TimeoutError:
            return Said(Fate.UNANSWERED, f"no OK within {self._ok_timeout_s:g} s")
        finally:
            waiting.remove(future)
            if not waiting and self._oks.get(event_id) is waiting:
                del self._oks[event_id]

    async def compare(self, window: Filter, ours: Negentropy, first_word_s: float | None = None) -> str:
        """Fills `ours.missing`; returns what stood in the way, empty when nothing did.

        `first_word_s`: how long the relay may take to its first word, when that is not as long as to any other.
        """
        patience_s = first_word_s or self._answer_timeout_s
        name = f"neg-{next(self._numbers)}"
        said = self._comparisons[name] = asyncio.Queue()
        message = _negentropy("NEG-OPEN", name, window.as_json_object(), ours.open().hex())
        try:
            for _ in range(MOST_ROUNDS):
                if self._over or not await self.tell(message):
                    return self.error or LOST
                async with asyncio.timeout(patience_s):
                    word = await said.get()
                patience_s = self._answer_timeout_s
                if word.obstacle:
                    return word.obstacle
                answer = await asyncio.to_thread(ours.answer, bytes.fromhex(word.message))
                if answer is None:
                    return ""
                message = _negentropy("NEG-MSG", name, answer.hex())
            return f"no end after {MOST_ROUNDS} rounds"
        except TimeoutError:
            return f"no word within {patience_s:g} s"
        except ValueError as error:
            return f"not the protocol of NIP-77: {error}"
        finally:
            del self._comparisons[name]
            if not self._over:
                await self.tell(_negentropy("NEG-CLOSE", name))


def req(name: str, *wanted: Filter) -> ClientMessage:
    return ClientMessage.from_json(json.dumps(["REQ", name, *(one.as_json_object() for one in wanted)]))


def ok_of(accepted: bool, message: str) -> Said:
    return Said(read_fate(accepted, message), message)


def words_of(error: NostrSdkError) -> str:
    """The SDK shows its messages quoted."""
    return str(error).strip("'\"")


def _negentropy(*frame: object) -> ClientMessage:
    return ClientMessage.from_json(json.dumps(frame))

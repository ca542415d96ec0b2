"""One connection through the fault proxy: what goes up to the relay, and what comes down."""

from __future__ import annotations

import asyncio
import json
import logging
import random
import secrets
from collections import Counter
from collections.abc import Callable
from typing import Any

import aiohttp
from aiohttp import web

from uniun_bots.errors import BadEvent
from uniun_bots.nostr.read import read_event, verify
from uniun_bots.nostr.signer import difficulty_of
from uniun_bots.relays.faults import Faults
from uniun_bots.relays.login import AUTH_KIND

log = logging.getLogger(__name__)

REORDER_S = 0.2
"""How long EVENTs are held back for others to overtake them."""
MOST_ON_THE_WAY = 10_000
"""Words of the relay that wait for the client or for their time; beyond it the relay is read no further."""
Frame = list[Any]


class FaultSession:
    def __init__(
        self,
        down: web.WebSocketResponse,
        up: aiohttp.ClientWebSocketResponse,
        faults: Callable[[], Faults],
        chance: random.Random,
        counts: Counter[str],
        loud: asyncio.Event,
    ) -> None:
        """`loud` is clear while the proxy is silent; `counts` go by word."""
        self._down, self._up = down, up
        self._faults, self._random = faults, chance
        self._counts, self._loud = counts, loud
        self._challenge = secrets.token_hex(16)
        self._logged_in = False
        self._stored: Counter[str] = Counter()
        self._live: set[str] = set()
        self._held: list[str] = []
        self._on_the_way: asyncio.Queue[tuple[float, str]] = asyncio.Queue(MOST_ON_THE_WAY)
        self._words = 0

    async def run(self) -> None:
        """Until one side is gone."""
        await self._greet()
        ways = (self._pump_up(), self._pump_down(), self._pass_on())
        pumps = [asyncio.create_task(way) for way in ways]
        try:
            await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for pump in pumps:
                pump.cancel()
            await asyncio.gather(*pumps, return_exceptions=True)

    async def _greet(self) -> None:
        if self._faults().auth:
            await self._say(["AUTH", self._challenge])
        if words := self._faults().notice:
            await self._say(["NOTICE", words])

    async def _pump_up(self) -> None:
        while True:
            await self._loud.wait()
            message = await self._down.receive()
            if message.type is not aiohttp.WSMsgType.TEXT:
                return
            await self._loud.wait()
            frame = _parsed(message.data)
            if frame is None or not await self._answer(frame):
                await self._up.send_str(message.data)

    async def _pump_down(self) -> None:
        while True:
            message = await self._up.receive()
            if message.type is not aiohttp.WSMsgType.TEXT:
                return
            due = asyncio.get_running_loop().time() + self._faults().delay
            await self._on_the_way.put((due, message.data))

    async def _pass_on(self) -> None:
        """Each word when it is due, in the order in which the relay said them."""
        loop = asyncio.get_running_loop()
        while True:
            due, data = await self._on_the_way.get()
            if (wait_s := due - loop.time()) > 0:
                await asyncio.sleep(wait_s)
            await self._loud.wait()
            await self._pass_down(data)
            self._words += 1
            if (most := self._faults().cut_after) and self._words >= most:
                return

    async def _answer(self, frame: Frame) -> bool:
        """Whether we answered in the relay's place."""
        kind, faults = frame[0], self._faults()
        self._counts[f"up {kind}"] += 1
        if kind == "AUTH" and faults.auth:
            await self._log_in(frame[1])
            return True
        if kind in ("REQ", "NEG-OPEN"):
            self._stored[frame[1]] = 0
            self._live.discard(frame[1])
        if kind == "CLOSE" or (kind == "EVENT" and not isinstance(frame[1], dict)):
            return False
        refusal = self._refusal(frame, faults)
        if refusal is None:
            return False
        if refusal:
            await self._say(_no(frame, refusal))
        elif kind == "EVENT" and not faults.no_ok:
            await self._say(["OK", frame[1].get("id"), True, ""])
        return True

    def _refusal(self, frame: Frame, faults: Faults) -> str | None:
        """None: to the relay with it. Empty: swallowed."""
        kind = frame[0]
        if faults.auth and not self._logged_in:
            return "auth-required: log in first"
        if kind == "REQ":
            return faults.close_reqs
        if kind == "NEG-OPEN" and faults.no_negentropy:
            return "ERROR: bad msg: unknown cmd"
        if kind == "EVENT":
            if faults.refuse_events and self._random.random() < faults.refuse_share:
                return faults.refuse_events
            if faults.pow and (bits := _bits(frame)) < faults.pow:
                return f"pow: difficulty {bits} is less than {faults.pow}"
            if faults.no_ok or self._random.random() < faults.lie:
                return ""
        return None

    async def _log_in(self, fields: Any) -> None:
        try:
            event = read_event(json.dumps(fields))
        except BadEvent as error:
            await self._say(["NOTICE", f"ERROR: {error}"])
            return
        good = (
            event.kind == AUTH_KIND and event.tag_values("challenge") == [self._challenge] and verify(event)
        )
        self._logged_in = self._logged_in or good
        await self._say(["OK", event.id, good, "" if good else "invalid: not the login that was asked for"])

    async def _pass_down(self, data: str) -> None:
        frame, faults = _parsed(data), self._faults()
        kind = frame[0] if frame else ""
        if frame and kind == "EVENT":
            await self._pass_event(data, frame[1], faults)
            return
        await self._release()
        if frame and kind == "EOSE":
            self._live.add(frame[1])
            if faults.no_eose:
                return
        await self._send(kind, data)

    async def _pass_event(self, data: str, subscription_id: str, faults: Faults) -> None:
        live = subscription_id in self._live
        if self._random.random() < (faults.lose_live if live else faults.lose_stored):
            self._counts["lost"] += 1
            return
        if not live:
            self._stored[subscription_id] += 1
            if faults.page is not None and self._stored[subscription_id] > faults.page:
                return
        self._held += [data, data] if self._random.random() < faults.duplicate else [data]
        if faults.reorder is None or len(self._held) >= faults.reorder:
            await self._release()
        else:
            asyncio.get_running_loop().call_later(REORDER_S, self._release_soon)

    def _release_soon(self) -> None:
        if self._held and not self._down.closed:
            self._late = asyncio.ensure_future(self._release())

    async def _release(self) -> None:
        held, self._held = self._held, []
        if self._faults().reorder is not None:
            self._random.shuffle(held)
        for data in held:
            await self._send("EVENT", data)

    async def _say(self, frame: Frame) -> None:
        await self._send(frame[0], json.dumps(frame))

    async def _send(self, kind: str, data: str) -> None:
        self._counts[f"down {kind}"] += 1
        try:
            await self._down.send_str(data)
        except ConnectionError:
            log.debug("the client is gone")


def _no(frame: Frame, words: str) -> Frame:
    """The refusal that NIP-01 has for this word."""
    if frame[0] == "EVENT":
        return ["OK", frame[1].get("id"), False, words]
    if frame[0] == "NEG-OPEN":
        return ["NOTICE", words]
    return ["CLOSED", frame[1], words]


def _bits(frame: Frame) -> int:
    try:
        return difficulty_of(str(frame[1].get("id")))
    except ValueError:
        return 0


def _parsed(data: str) -> Frame | None:
    try:
        frame = json.loads(data)
    except (ValueError, RecursionError):
        return None
    good = isinstance(frame, list) and len(frame) > 1 and isinstance(frame[0], str)
    return frame if good and (frame[0] != "EVENT" or isinstance(frame[1], dict | str)) else None

"""A relay that misbehaves on demand: a small proxy in front of any relay."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
from collections import Counter
from types import TracebackType
from typing import Self

import aiohttp
from aiohttp import web

from uniun_bots.errors import RelayError
from uniun_bots.relays.fault_script import FaultScript
from uniun_bots.relays.fault_session import FaultSession
from uniun_bots.relays.faults import Faults
from uniun_bots.relays.local import free_port, url_at

log = logging.getLogger(__name__)

LARGEST_FRAME = 8 * 1024 * 1024


class FaultProxy:
    """`async with FaultProxy(relay.url, seed=7) as proxy: await proxy.set(Faults(silent=True))`."""

    def __init__(self, relay: str, seed: int = 0, host: str = "127.0.0.1", port: int = 0) -> None:
        self.relay, self.seed = relay, seed
        self.host, self.port = host, port or free_port(host)
        self.url = url_at(host, self.port)
        self.counts: Counter[str] = Counter()
        """Words so far: `up REQ`, `down EVENT` …, and `connections`, `lost`."""
        self._faults = Faults()
        self._random = random.Random(seed)  # noqa: S311
        self._wires: set[asyncio.Transport] = set()
        self._loud = asyncio.Event()
        self._loud.set()
        self._site: web.TCPSite | None = None

    async def __aenter__(self) -> Self:
        app = web.Application()
        app.router.add_get("/{path:.*}", self._serve)
        self._http = aiohttp.ClientSession()
        self._runner = web.AppRunner(app, shutdown_timeout=0.1)
        await self._runner.setup()
        try:
            await self._listen()
        except RelayError:
            await self._close()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._close()

    async def set(self, faults: Faults) -> None:
        """Instead of those before; `Faults()` ends them all."""
        self._faults = faults
        log.info("faults %s", faults.model_dump(exclude_defaults=True) or "none")
        if faults.silent:
            self._loud.clear()
        else:
            self._loud.set()
        if faults.refuse and self._site is not None:
            await self._site.stop()
            self._site = None
        if faults.refuse or faults.cut:
            self.cut()
        if not faults.refuse and self._site is None:
            await self._listen()

    def cut(self) -> None:
        """End every connection without a goodbye."""
        for wire in list(self._wires):
            wire.abort()

    async def follow(self, script: FaultScript) -> None:
        """Runs until the last step is reached, for ever with `repeat`."""
        loop = asyncio.get_running_loop()
        begin = loop.time()
        while True:
            for step in script.steps:
                await asyncio.sleep(begin + step.at - loop.time())
                await self.set(step.faults())
            if script.repeat is None:
                return
            begin += script.repeat

    async def _listen(self) -> None:
        site = web.TCPSite(self._runner, self.host, self.port, reuse_address=True)
        try:
            await site.start()
        except OSError as error:
            raise RelayError(f"cannot listen on {self.host}:{self.port}: {error.strerror}") from None
        self._site = site

    async def _close(self) -> None:
        self._loud.set()
        self.cut()
        await self._runner.cleanup()
        await self._http.close()

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        if request.headers.get("Upgrade", "").lower() != "websocket":
            return await self._inform(request)
        wire = request.transport
        if wire is not None:
            self._wires.add(wire)
        try:
            return await self._serve_socket(request)
        finally:
            if wire is not None:
                self._wires.discard(wire)
                wire.abort()

    async def _serve_socket(self, request: web.Request) -> web.WebSocketResponse:
        await self._loud.wait()
        self.counts["connections"] += 1
        down = web.WebSocketResponse(max_msg_size=LARGEST_FRAME)
        with contextlib.suppress(aiohttp.ClientError, ConnectionError):
            await down.prepare(request)
            async with self._http.ws_connect(self.relay, max_msg_size=LARGEST_FRAME) as up:
                session = FaultSession(down, up, lambda: self._faults, self._random, self.counts, self._loud)
                await session.run()
        return down

    async def _inform(self, request: web.Request) -> web.Response:
        """NIP-11 passes through, unless there is something to say about the faults."""
        if self._faults.pow:
            return web.json_response({"limitation": {"min_pow_difficulty": self._faults.pow}})
        url = self.relay.replace("ws", "http", 1)
        try:
            async with self._http.get(
                url, headers={"Accept": request.headers.get("Accept", "*/*")}
            ) as answer:
                return web.Response(
                    status=answer.status, body=await answer.read(), content_type=answer.content_type
                )
        except aiohttp.ClientError:
            return web.Response(status=502)

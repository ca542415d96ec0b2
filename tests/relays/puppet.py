"""A relay that says exactly what a test wants, word for word."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Any, Self

from aiohttp import WSMsgType, web

from uniun_bots.relays.local import free_port


class Raw(str):
    """Said as it stands, whatever it is."""


Say = Callable[..., Awaitable[None]]
Script = Callable[[list[Any], Say], Awaitable[None]]


class Puppet:
    """`script(frame, say)` is called for every word of the client; `greet(say)` for every connection."""

    def __init__(
        self, script: Script, greet: Callable[[Say], Awaitable[None]] | None = None, port: int = 0
    ) -> None:
        self._script, self._greet = script, greet
        self.port = port or free_port()
        self.url = f"ws://127.0.0.1:{self.port}"
        self.heard: list[list[Any]] = []
        self.connections = 0
        self._open: set[web.WebSocketResponse] = set()

    async def __aenter__(self) -> Self:
        app = web.Application()
        app.router.add_get("/", self._serve)
        self._runner = web.AppRunner(app, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", self.port, reuse_address=True).start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for socket in list(self._open):
            await socket.close()
        await self._runner.cleanup()

    def words(self, kind: str) -> list[list[Any]]:
        return [frame for frame in self.heard if frame[0] == kind]

    async def _serve(self, request: web.Request) -> web.WebSocketResponse:
        self.connections += 1
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        self._open.add(socket)

        async def say(*frame: Any) -> None:
            if not socket.closed:
                raw = len(frame) == 1 and isinstance(frame[0], Raw)
                await socket.send_str(frame[0] if raw else json.dumps(frame))

        try:
            if self._greet:
                await self._greet(say)
            async for message in socket:
                if message.type is WSMsgType.TEXT:
                    frame = json.loads(message.data)
                    self.heard.append(frame)
                    await self._script(frame, say)
        except (ConnectionError, asyncio.CancelledError):
            self.heard.append(["GONE"])
        finally:
            self._open.discard(socket)
        return socket


async def empty(frame: list[Any], say: Say) -> None:
    """Has nothing and takes everything."""
    if frame[0] == "REQ":
        await say("EOSE", frame[1])
    elif frame[0] == "EVENT":
        await say("OK", frame[1]["id"], True, "")
    elif frame[0] == "NEG-OPEN":
        await say("NOTICE", "ERROR: bad msg: unknown cmd")

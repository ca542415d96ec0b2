"""Chats over the control socket of a host: pieces go out as they come, and whoever leaves stops the model."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging

from aiohttp import web

from uniun_bots.chat.question import Question
from uniun_bots.errors import JobRefused, UniunError
from uniun_bots.host.chat.events import (
    FAULT,
    HAPPENS,
    Event,
    answer_as_json,
    happening_as_json,
    question_from_json,
)
from uniun_bots.host.running import Running
from uniun_bots.inference.seat import CLOSING

log = logging.getLogger(__name__)

LOOK_EVERY_S = 0.05
"""Whether whoever asked is still there."""
Told = asyncio.Queue[Event | None]
"""None: nothing comes any more."""


class ChatStreams:
    def __init__(self, host: Running) -> None:
        self._host = host
        self._under_way: set[asyncio.Task[None]] = set()
        self._closed = False

    async def answer(self, request: web.Request) -> web.StreamResponse:
        question = question_from_json(await request.json())
        if self._closed:
            raise JobRefused(CLOSING)
        told: Told = asyncio.Queue()
        asking = asyncio.create_task(self._ask(question, told))
        self._under_way.add(asking)
        asking.add_done_callback(self._under_way.discard)
        watching = asyncio.create_task(_stop_when_gone(request, asking))
        try:
            return await _send(request, told)
        finally:
            asking.cancel()
            watching.cancel()
            await asyncio.wait([asking, watching])

    async def aclose(self) -> None:
        """What is under way is stopped, and told so: a host that ends does not wait for a model."""
        self._closed = True
        running = [*self._under_way]
        for asking in running:
            asking.cancel()
        if running:
            await asyncio.wait(running)

    async def _ask(self, question: Question, told: Told) -> None:
        try:
            answer = await self._host.shiv().ask(
                question, lambda happening: told.put_nowait(happening_as_json(happening))
            )
            told.put_nowait(answer_as_json(answer))
        except UniunError as fault:
            told.put_nowait({HAPPENS: FAULT, "error": str(fault)})
        except asyncio.CancelledError:
            told.put_nowait({HAPPENS: FAULT, "error": CLOSING})
            raise
        except Exception:
            log.exception("chat: a question met a fault")
            told.put_nowait({HAPPENS: FAULT, "error": "the host met a fault: its log tells"})
        finally:
            told.put_nowait(None)


async def _send(request: web.Request, told: Told) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "application/x-ndjson"})
    with contextlib.suppress(ConnectionResetError):  # whoever asked has gone
        await response.prepare(request)
        while (event := await told.get()) is not None:
            await response.write(json.dumps(event).encode() + b"\n")
        await response.write_eof()
    return response


async def _stop_when_gone(request: web.Request, asking: asyncio.Task[None]) -> None:
    """While a prompt is read nothing is sent, so that nobody would notice."""
    while (transport := request.transport) is not None and not transport.is_closing():
        await asyncio.sleep(LOOK_EVERY_S)
    log.info("chat: whoever asked has gone; the model is stopped")
    asking.cancel()

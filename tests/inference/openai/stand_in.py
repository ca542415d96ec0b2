"""A model server that says what a test told it to, and remembers what it was asked."""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict, deque
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web
from aiohttp.test_utils import TestServer

from uniun_bots.inference.openai.engine import OpenAiEngine
from uniun_bots.inference.openai.server import ApiKey, Server
from uniun_bots.inference.request import Message, Request

MODEL = "qwen3-8b"
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def listing(*models: str, **more: object) -> dict[str, Any]:
    return {"object": "list", "data": [{"id": name, "object": "model", **more} for name in models]}


def chunk(content: str | None = None, finish: str | None = None, **more: object) -> dict[str, Any]:
    delta = {} if content is None else {"content": content}
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}], **more}


def events(*found: object, done: bool = True) -> bytes:
    lines = [f"data: {one if isinstance(one, str) else json.dumps(one)}\n\n" for one in found]
    return "".join([*lines, "data: [DONE]\n\n" if done else ""]).encode()


def usage(prompt: int, generated: int, cached: int | None = None) -> dict[str, Any]:
    details = {} if cached is None else {"prompt_tokens_details": {"cached_tokens": cached}}
    return {"choices": [], "usage": {"prompt_tokens": prompt, "completion_tokens": generated, **details}}


@dataclass(slots=True)
class Said:
    """One answer in waiting."""

    body: bytes | str | dict[str, Any]
    status: int = 200
    kind: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)

    def response(self) -> web.Response:
        kind = self.kind or ("application/json" if isinstance(self.body, dict) else "text/event-stream")
        text = json.dumps(self.body) if isinstance(self.body, dict) else self.body
        data = text.encode() if isinstance(text, str) else text
        return web.Response(body=data, status=self.status, headers={**self.headers, "Content-Type": kind})


PLAIN = Said(events(chunk("At 14:10."), chunk(finish="stop"), usage(12, 5)))


class StandIn:
    """Answers the chat path from a queue, then with PLAIN; the other paths with `paths`."""

    def __init__(self) -> None:
        self.queue: deque[Said | Handler] = deque()
        self.paths: dict[str, Said | Handler] = {"/v1/models": Said(listing(MODEL))}
        self.asked: defaultdict[str, list[Any]] = defaultdict(list)
        self.headers: list[Mapping[str, str]] = []
        self.came = asyncio.Event()
        self.left = asyncio.Event()
        self.url = ""
        self.engines: list[OpenAiEngine] = []
        """Closed with this server."""

    @property
    def bodies(self) -> list[dict[str, Any]]:
        """What came to the chat path."""
        return self.asked["/v1/chat/completions"]

    def say(self, *answers: Said | Handler) -> None:
        self.queue.extend(answers)

    async def hang(self, request: web.Request) -> web.StreamResponse:
        """Begins an answer and never goes on; `left` is set when the other side has gone."""
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        await response.write(events(chunk("At "), done=False))
        try:
            await asyncio.Event().wait()
        finally:
            self.left.set()
        return response

    async def silent(self, request: web.Request) -> web.StreamResponse:
        await asyncio.Event().wait()
        return web.Response()

    async def answer(self, request: web.Request) -> web.StreamResponse:
        body = await request.text()
        self.asked[request.path].append(json.loads(body) if body else None)
        self.headers.append(request.headers)
        self.came.set()
        if request.path == "/v1/chat/completions":
            found: Said | Handler = self.queue.popleft() if self.queue else PLAIN
        else:
            found = self.paths.get(request.path, Said({"detail": "Not Found"}, 404))
        return found.response() if isinstance(found, Said) else await found(request)

    def engine(self, model: str | None = MODEL, key: str = "", **given: Any) -> OpenAiEngine:
        """`given` goes to the server or to the engine, whoever knows the name."""
        for_server = {
            name: given.pop(name) for name in ("stall_s", "tries", "sleep", "clock") if name in given
        }
        server = Server(f"{self.url}/v1", ApiKey(key) if key else None, **for_server)
        self.engines.append(OpenAiEngine(server, model, **given))
        return self.engines[-1]


@asynccontextmanager
async def stand_in() -> AsyncIterator[StandIn]:
    found = StandIn()
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", found.answer)
    # Its handlers are cancelled when the other side has gone.
    server = TestServer(app)
    await server.start_server(shutdown_timeout=0.1)
    found.url = str(server.make_url("")).rstrip("/")
    try:
        yield found
    finally:
        for engine in found.engines:
            await engine.aclose()
        await server.close()


def ask(text: str = "When is high water?", max_tokens: int = 32, **more: Any) -> Request:
    return Request((Message("system", "You are brief."), Message("user", text)), max_tokens, **more)

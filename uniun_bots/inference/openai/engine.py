"""Any OpenAI-compatible server as an engine: llama-server, vLLM, SGLang, Ray Serve, llama_cpp.server."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import aiohttp

from uniun_bots.clock import monotonic
from uniun_bots.errors import EngineError, EngineLost, ModelNotFound, PromptTooLong, ServerRefused
from uniun_bots.inference.completion import Completion
from uniun_bots.inference.engine import EngineInfo, OnPiece
from uniun_bots.inference.openai.answer import Answer, ErrorInside
from uniun_bots.inference.openai.body import body_of
from uniun_bots.inference.openai.listing import Listing, choose_model, read_listing
from uniun_bots.inference.openai.refusal import Asked, refusal
from uniun_bots.inference.openai.server import Server, no_answer, read_json
from uniun_bots.inference.openai.stream import EventReader
from uniun_bots.inference.openai.tokens import TokenCounter
from uniun_bots.inference.request import Message, Request
from uniun_bots.personas.settings import JsonDialect

CONTEXT_TOKENS = 4096
"""When neither the settings nor the server tell."""
SLOTS = 4


class OpenAiEngine:
    def __init__(
        self,
        server: Server,
        model: str | None = None,
        *,
        context_tokens: int | None = None,
        slots: int = SLOTS,
        priority: bool = False,
        dialect: JsonDialect = JsonDialect.JSON_SCHEMA,
    ) -> None:
        """Without `model` the only one that the server has; with `priority` it is told each request's tier."""
        self._server, self._wanted, self._context_tokens = server, model, context_tokens
        self._slots, self._priority, self._dialect = slots, priority, dialect
        self._loading = asyncio.Lock()
        self._info: EngineInfo | None = None
        self._model = model or ""
        self._tokens = TokenCounter(server)

    async def info(self) -> EngineInfo:
        return await self.load()

    async def load(self) -> EngineInfo:
        """Ask the server what it has. Raises ModelNotFound, ServerRefused, EngineLost."""
        async with self._loading:
            if self._info is None:
                self._info = await self._look()
            return self._info

    async def count(self, messages: Sequence[Message]) -> int:
        """Exact with llama-server and vLLM; elsewhere an estimate that is rather too large."""
        await self.load()
        return await self._tokens.count(self._model, messages)

    async def generate(self, request: Request, on_piece: OnPiece | None = None) -> Completion:
        """Cancelling the awaiting task closes the connection, by which servers know to stop.

        A server that tells no usage has its prompt counted as `count` does, and a token for each piece. The time
        to evaluate goes to the first piece, and the server's queue is in it.
        """
        await self.load()
        began = monotonic()
        body = body_of(request, self._model, self._dialect, priority=self._priority)
        try:
            answer = await self._ask(body, request, on_piece or _hear_nothing)
            answer.whole()
        except PromptTooLong as fault:
            raise await self._counted(fault, request) from None
        except (EngineLost, ModelNotFound):
            # It may come back as another one.
            self._info = None
            raise
        return await self._completion(request, answer, began, monotonic())

    async def aclose(self) -> None:
        await self._server.aclose()

    async def _look(self) -> EngineInfo:
        found = await self._listing()
        self._model = choose_model(self._wanted, found, self._server.base_url)
        await self._tokens.look(self._model)
        context = self._context_tokens or found.context.get(self._model) or self._tokens.context_tokens
        return EngineInfo(f"openai:{self._model}", context or CONTEXT_TOKENS, self._slots)

    async def _listing(self) -> Listing:
        url = f"{self._server.base_url}/models"
        try:
            return read_listing(await self._server.json("GET", url), url)
        except ServerRefused as refused:
            if self._wanted is None or refused.status not in (404, 405):
                raise
            # It keeps no list: the first request will tell.
            return Listing((), {})

    async def _ask(self, body: dict[str, Any], request: Request, on_piece: OnPiece) -> Answer:
        asked = Asked(
            url=f"{self._server.base_url}/chat/completions",
            model=self._model,
            answer_tokens=request.max_tokens,
            has_schema=request.json_schema is not None,
            has_key=self._server.has_key,
        )
        answer = await self._hear(body, asked, on_piece)
        if answer.is_untouched:
            # llama_cpp.server breaks a stream off without a word where it would otherwise say what is wrong.
            whole = {name: value for name, value in body.items() if name not in ("stream", "stream_options")}
            answer = await self._hear(whole, asked, on_piece)
        return answer

    async def _hear(self, body: dict[str, Any], asked: Asked, on_piece: OnPiece) -> Answer:
        answer = Answer()
        try:
            async with self._server.open("POST", asked.url, body, asked) as response:
                await _listen(response, answer, on_piece)
        except ErrorInside as found:
            raise refusal(0, self._server.without_key(found.text), asked) from None
        return answer

    async def _completion(self, request: Request, answer: Answer, began: float, ended: float) -> Completion:
        prompt_tokens = answer.prompt_tokens
        if prompt_tokens is None:
            prompt_tokens = await self.count(request.messages)
        reused = min(answer.reused_tokens, prompt_tokens)
        first = ended if answer.first_word_at is None else answer.first_word_at
        return Completion(
            text=answer.text,
            finish=answer.whole(),
            model=f"openai:{self._model}",
            prompt_tokens=prompt_tokens,
            reused_tokens=reused,
            evaluated_tokens=prompt_tokens - reused,
            generated_tokens=answer.pieces if answer.generated_tokens is None else answer.generated_tokens,
            seconds=ended - began,
            evaluate_ms=1000 * (first - began),
            generate_ms=1000 * (ended - first),
        )

    async def _counted(self, fault: PromptTooLong, request: Request) -> EngineError:
        """With our own numbers where the server told none."""
        info = await self.load()
        prompt = fault.prompt_tokens or await self.count(request.messages)
        return PromptTooLong(prompt, fault.context_tokens or info.context_tokens, request.max_tokens)


def _hear_nothing(piece: str) -> None:
    """For callers who wait for the whole."""


async def _listen(response: aiohttp.ClientResponse, answer: Answer, hear: OnPiece) -> None:
    if response.content_type == "application/json":
        # It does not stream.
        hear(answer.take_object(await read_json(response)))
        return
    if response.content_type != "text/event-stream":
        raise await no_answer(response)
    reader = EventReader()
    async for chunk in response.content.iter_any():
        for event in reader.feed(chunk):
            hear(answer.take(event))
    for event in reader.end():
        hear(answer.take(event))

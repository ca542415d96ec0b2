"""Requests as the rounds of a Gana and as a chat, and what is heard of them."""

from __future__ import annotations

import asyncio
import random
import time
from contextlib import suppress
from dataclasses import dataclass

from uniun_bots.inference.llama.engine import LlamaEngine
from uniun_bots.inference.request import Message, Request

TIDE = "The tide comes in and the tide goes out again. "
"""11 tokens."""


class Heard:
    """The signs of life of a request: empty ones while it reads, then text."""

    def __init__(self, enough: int, *, text: bool = False) -> None:
        self.first_at = 0.0
        self._left = enough
        self._text = text
        self._enough = asyncio.Event()

    def __call__(self, piece: str) -> None:
        self.first_at = self.first_at or time.perf_counter()
        self._left -= bool(piece) or not self._text
        if self._left <= 0:
            self._enough.set()

    async def wait(self) -> None:
        await self._enough.wait()


@dataclass(frozen=True, slots=True)
class Attempt:
    """A round that was asked to give way."""

    gave_way: bool
    chat_began_after_ms: float
    reused_tokens: int
    evaluated_tokens: int
    """A slice that was stopped in the middle counts in full."""


def round_of(number: int, tokens: int, max_tokens: int, seed: int = 1) -> Request:
    """Different from all others in its first words."""
    messages = (Message("system", f"{number} is you."), Message("user", TIDE * (tokens // 11)))
    return Request(messages, max_tokens, 0.7, seed=seed)


def chat(number: int) -> Request:
    return Request((Message("system", "Chat."), Message("user", f"Hi, {number}")), 1, 0.0)


async def give_way(engine: LlamaEngine, request: Request, heard: Heard, rng: random.Random) -> Attempt:
    """A chat arrives at a random moment after enough was heard."""
    before = engine.health()
    running = asyncio.create_task(engine.generate(request, heard))
    waiting = asyncio.create_task(heard.wait())
    await asyncio.wait([running, waiting], return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()
    await asyncio.sleep(rng.uniform(0.0, 0.1))
    arrived = time.perf_counter()
    running.cancel()
    with suppress(asyncio.CancelledError):
        await running
    after, chatting = engine.health(), Heard(1)
    await engine.generate(chat(rng.randrange(10**6)), chatting)
    return Attempt(
        gave_way=after.cancelled > before.cancelled,
        chat_began_after_ms=(chatting.first_at - arrived) * 1000,
        reused_tokens=after.reused_tokens - before.reused_tokens,
        evaluated_tokens=after.evaluated_tokens - before.evaluated_tokens,
    )

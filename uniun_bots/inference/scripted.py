"""An engine without a model: it says what it was told to say. For tests and simulations."""

from __future__ import annotations

import asyncio
import re
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass

from uniun_bots.errors import EngineError, PromptTooLong
from uniun_bots.inference.completion import Completion, Finish
from uniun_bots.inference.engine import EngineInfo, OnPiece
from uniun_bots.inference.request import Message, Request


@dataclass(frozen=True, slots=True)
class Reply:
    text: str
    finish: Finish = "stop"
    after_s: float = 0.0
    """Seconds the engine seems to think."""
    error: Exception | None = None
    """Raised instead of answering."""
    hangs: bool = False
    """Never answers; only cancelling ends it. Whoever listens hears `text` before."""


Script = Iterable[Reply | str] | Callable[[Request], Reply | str]


class ScriptedEngine:
    """`script` is a queue of replies or a function from request to reply; a used-up queue is an error.

    With `again` the queue begins anew instead.
    """

    def __init__(
        self,
        script: Script = (),
        *,
        context_tokens: int = 4096,
        slots: int = 1,
        model: str = "scripted",
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        again: bool = False,
    ) -> None:
        self.requests: list[Request] = []
        self.cancelled: list[Request] = []
        self.running = 0
        self.most_running = 0
        self.closed = False
        self._function = script if callable(script) else None
        self._queue: deque[Reply | str] = deque() if callable(script) else deque(script)
        self._info = EngineInfo(model=model, context_tokens=context_tokens, slots=slots)
        self._sleep = sleep
        self._again = again
        self._asked = asyncio.Event()

    def say(self, *replies: Reply | str) -> None:
        self._queue.extend(replies)

    async def until_asked(self, count: int) -> None:
        """Return when so many requests have come in all."""
        while len(self.requests) < count:
            self._asked.clear()
            await self._asked.wait()

    async def info(self) -> EngineInfo:
        return self._info

    async def load(self) -> EngineInfo:
        return self._info

    async def count(self, messages: Sequence[Message]) -> int:
        """Four for each message and one for every four bytes begun."""
        return sum(4 + -(-len(message.content.encode()) // 4) for message in messages)

    async def generate(self, request: Request, on_piece: OnPiece | None = None) -> Completion:
        prompt_tokens = await self.count(request.messages)
        if prompt_tokens + request.max_tokens > self._info.context_tokens:
            raise PromptTooLong(prompt_tokens, self._info.context_tokens, request.max_tokens)
        self.requests.append(request)
        self._asked.set()
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        try:
            return await self._answer(request, prompt_tokens, on_piece)
        except asyncio.CancelledError:
            self.cancelled.append(request)
            raise
        finally:
            self.running -= 1

    async def aclose(self) -> None:
        self.closed = True

    async def _answer(self, request: Request, prompt_tokens: int, on_piece: OnPiece | None) -> Completion:
        reply = self._next(request)
        if reply.after_s:
            await self._sleep(reply.after_s)
        if on_piece is not None:
            for piece in re.findall(r"\s*\S+|\s+$", reply.text):
                on_piece(piece)
        if reply.hangs:
            await asyncio.Event().wait()
        if reply.error is not None:
            raise reply.error
        return Completion(
            text=reply.text,
            finish=reply.finish,
            model=self._info.model,
            prompt_tokens=prompt_tokens,
            reused_tokens=0,
            evaluated_tokens=prompt_tokens,
            generated_tokens=-(-len(reply.text.encode()) // 4),
            seconds=reply.after_s,
        )

    def _next(self, request: Request) -> Reply:
        if self._function is not None:
            found = self._function(request)
        elif self._queue:
            found = self._queue.popleft()
            if self._again:
                self._queue.append(found)
        else:
            raise EngineError(f"the script has no reply for request {len(self.requests)}: call say()")
        return Reply(found) if isinstance(found, str) else found

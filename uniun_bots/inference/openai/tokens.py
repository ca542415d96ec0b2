"""Counting tokens by the server's own tokenizer where it can be asked, else by estimate.

vLLM counts messages; llama-server first shows what its template makes of them. Both answer outside `/v1`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from uniun_bots.errors import EngineLost, ModelNotFound, PromptTooLong, ServerRefused
from uniun_bots.inference.openai.body import spoken
from uniun_bots.inference.openai.estimate import estimate
from uniun_bots.inference.openai.server import Server
from uniun_bots.inference.request import Message

_PROBE = (Message("user", "?"),)
Count = Callable[[str, Sequence[Message]], Awaitable[int]]


class TokenCounter:
    def __init__(self, server: Server) -> None:
        self._server = server
        self._count: Count | None = None
        self.context_tokens: int | None = None
        """What the server says while it counts; None when it does not."""

    @property
    def is_exact(self) -> bool:
        return self._count is not None

    async def look(self, model: str) -> None:
        """Find out how this server counts."""
        self._count = None
        for way in (self._by_vllm, self._by_llama_server):
            try:
                await way(model, _PROBE)
            except (EngineLost, ModelNotFound, PromptTooLong, ServerRefused):
                continue
            self._count = way
            return

    async def count(self, model: str, messages: Sequence[Message]) -> int:
        return await self._count(model, messages) if self._count else estimate(messages)

    async def _by_vllm(self, model: str, messages: Sequence[Message]) -> int:
        body = {"model": model, "messages": spoken(messages), "add_generation_prompt": True}
        found = await self._post("tokenize", body)
        self.context_tokens = _size(found.get("max_model_len")) or self.context_tokens
        return _whole(found.get("count"))

    async def _by_llama_server(self, model: str, messages: Sequence[Message]) -> int:
        prompt = (await self._post("apply-template", {"messages": spoken(messages)})).get("prompt")
        if not isinstance(prompt, str):
            raise EngineLost("the server shows no prompt")
        body = {"content": prompt, "add_special": True, "parse_special": True}
        tokens = (await self._post("tokenize", body)).get("tokens")
        if not isinstance(tokens, list):
            raise EngineLost("the server shows no tokens")
        if self.context_tokens is None:
            self.context_tokens = await self._llama_server_context()
        return len(tokens)

    async def _llama_server_context(self) -> int | None:
        """Of one slot: that is what a request may fill."""
        found = await self._server.json("GET", f"{self._server.root}/props")
        settings = found.get("default_generation_settings") if isinstance(found, dict) else None
        return _size(settings.get("n_ctx")) if isinstance(settings, dict) else None

    async def _post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        found = await self._server.json("POST", f"{self._server.root}/{path}", body)
        if not isinstance(found, dict):
            raise EngineLost(f"the server answers /{path} with no JSON object")
        return found


def _size(value: Any) -> int | None:
    return value if type(value) is int and value > 0 else None


def _whole(value: Any) -> int:
    if type(value) is not int:
        raise EngineLost("the server counts nothing")
    return value

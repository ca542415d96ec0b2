"""Any OpenAI-compatible `/v1/embeddings` as an embedder."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from uniun_bots.errors import EngineLost, PromptTooLong, ServerRefused
from uniun_bots.inference.embed.embedder import PROBE, EmbedderInfo
from uniun_bots.inference.embed.vector import pack_or_none
from uniun_bots.inference.openai.listing import choose_model, read_listing
from uniun_bots.inference.openai.server import Server

MOST_LETTERS = 2_000
"""Sent of a text: servers refuse what is too long for their model instead of cutting it."""
FEWER_LETTERS = 500
_ABOUT_THE_TEXT = (400, 413, 422)


class ServerEmbedder:
    def __init__(self, name: str, server: Server, model: str | None = None) -> None:
        """`name` as the settings spell it. Without `model` the only one that the server has."""
        self.name = name
        self._server, self._model = server, model
        self._loading = asyncio.Lock()
        self._info: EmbedderInfo | None = None

    async def load(self) -> EmbedderInfo:
        """Ask for one vector. Raises ServerRefused and its relatives, EngineLost."""
        async with self._loading:
            if self._info is None:
                self._model = self._model or await self._only_model()
                (probe,) = await self._ask([PROBE])
                if probe is None:
                    raise EngineLost(f"{self._server.base_url} gives vectors that point nowhere")
                self._info = EmbedderInfo(f"{self._server.base_url}#{self._model}", len(probe), probe)
            return self._info

    async def embed(self, texts: Sequence[str], *, urgent: bool = False) -> list[bytes | None]:
        info = await self.load()
        vectors = await self._of_all(texts)
        if any(vector is not None and len(vector) != info.width for vector in vectors):
            # Another model answers now: who asks again is told by what `load` finds.
            self._info = None
            raise EngineLost(f"{self._server.base_url} gives vectors of another width than before")
        return vectors

    async def aclose(self) -> None:
        await self._server.aclose()

    async def _of_all(self, texts: Sequence[str]) -> list[bytes | None]:
        if not texts:
            return []
        try:
            return await self._ask([text[:MOST_LETTERS] or " " for text in texts])
        except (PromptTooLong, ServerRefused) as refused:
            if not _about_the_text(refused):
                raise
        if len(texts) > 1:
            return [vector for text in texts for vector in await self._of_all([text])]
        return await self._of_a_piece(texts[0])

    async def _of_a_piece(self, text: str) -> list[bytes | None]:
        try:
            return await self._ask([text[:FEWER_LETTERS] or " "])
        except (PromptTooLong, ServerRefused) as refused:
            if not _about_the_text(refused):
                raise
            return [None]

    async def _ask(self, texts: list[str]) -> list[bytes | None]:
        url = f"{self._server.base_url}/embeddings"
        body = {"model": self._model, "input": texts, "encoding_format": "float"}
        answer = await self._server.json("POST", url, body)
        try:
            return _vectors(answer, len(texts))
        except (KeyError, TypeError, ValueError) as fault:
            raise EngineLost(f"{url} sent what are no vectors: {fault!r}") from None

    async def _only_model(self) -> str:
        url = f"{self._server.base_url}/models"
        found = read_listing(await self._server.json("GET", url), url)
        return choose_model(None, found, self._server.base_url)


def _about_the_text(refused: PromptTooLong | ServerRefused) -> bool:
    return isinstance(refused, PromptTooLong) or refused.status in _ABOUT_THE_TEXT


def _vectors(answer: Any, count: int) -> list[bytes | None]:
    rows = sorted(answer["data"], key=lambda row: int(row["index"]))
    if [row["index"] for row in rows] != list(range(count)):
        raise ValueError(f"{len(rows)} vectors for {count} texts")
    return [pack_or_none([_number(number) for number in row["embedding"]]) for row in rows]


def _number(value: object) -> float:
    """JSON has no NaN: servers write null instead."""
    return float("nan") if value is None else float(value)  # type: ignore[arg-type]

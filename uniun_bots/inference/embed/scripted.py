"""An embedder without a model, the same in every run: texts that share words are near."""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import Mapping, Sequence

from uniun_bots.errors import EngineLost
from uniun_bots.inference.embed.embedder import PROBE, EmbedderInfo
from uniun_bots.inference.embed.vector import pack_or_none


class ScriptedEmbedder:
    def __init__(
        self, name: str = "scripted", width: int = 64, *, synonyms: Mapping[str, str] | None = None
    ) -> None:
        """`synonyms`: words that count as another one. The name is part of what vectors come out."""
        self.name, self.width = name, width
        self.synonyms = dict(synonyms or {})
        self.broken = ""
        """While it says something, every call fails with it."""
        self.calls: list[tuple[str, ...]] = []
        self.gate = asyncio.Event()
        """Texts that are not urgent wait for it."""
        self.gate.set()

    async def load(self) -> EmbedderInfo:
        self._fail()
        return EmbedderInfo(self.name, self.width, self._vector(PROBE) or b"")

    async def embed(self, texts: Sequence[str], *, urgent: bool = False) -> list[bytes | None]:
        if not urgent:
            await self.gate.wait()
        self._fail()
        self.calls.append(tuple(texts))
        return [self._vector(text) for text in texts]

    async def aclose(self) -> None:
        self.gate.set()

    def _fail(self) -> None:
        if self.broken:
            raise EngineLost(self.broken)

    def _vector(self, text: str) -> bytes | None:
        numbers = [0.0] * self.width
        for word in re.findall(r"\w+", text.casefold()):
            digest = hashlib.sha256(f"{self.name} {self.synonyms.get(word, word)}".encode()).digest()
            for at in range(0, 16, 2):
                numbers[digest[at] % self.width] += 1.0 if digest[at + 1] % 2 else -1.0
        return pack_or_none(numbers)

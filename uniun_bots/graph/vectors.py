"""Search by meaning: the embedder that questions go through, and an index that follows the table of vectors."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from uniun_bots.database.store import Store
from uniun_bots.errors import EngineError
from uniun_bots.graph import embeddings
from uniun_bots.graph.embeddings import Registered
from uniun_bots.graph.nearest import nearest
from uniun_bots.graph.scope import Scope
from uniun_bots.graph.vector_index import Near, VectorIndex
from uniun_bots.inference.embed.embedder import Embedder

log = logging.getLogger(__name__)
T = TypeVar("T")

PATIENCE_S = 2.0
"""What a question waits for the index, and then for its vector; then words alone must do."""


@dataclass(frozen=True, slots=True)
class VectorStatus:
    embedder: str
    """As host.yaml spells it."""
    ready: bool
    indexed: int
    """Vectors in memory; none before something is searched by meaning."""
    fault: str
    """Why a question had to do with words alone when one was last asked; empty when it had not."""


class Vectors:
    def __init__(self, store: Store, embedder: Embedder, *, patience_s: float = PATIENCE_S) -> None:
        self.store, self.embedder = store, embedder
        self._patience_s = patience_s
        self._following = asyncio.Lock()
        self._registered: Registered | None = None
        self._index: VectorIndex | None = None
        self._follow: asyncio.Task[VectorIndex] | None = None
        self.fault = ""

    async def aclose(self) -> None:
        if self._follow is not None:
            self._follow.cancel()
            await asyncio.wait([self._follow])
        await self.embedder.aclose()

    def status(self) -> VectorStatus:
        indexed = len(self._index) if self._index else 0
        return VectorStatus(self.embedder.name, self._registered is not None, indexed, self.fault)

    @property
    def number(self) -> int | None:
        """Of the embedder in the table, once it was ready."""
        return self._registered.id if self._registered else None

    async def registered(self) -> Registered:
        """The embedder as the table knows it. Raises EngineError."""
        try:
            info = await self.embedder.load()
        except EngineError as fault:
            self.fault = str(fault)
            raise
        known = self._registered
        if known is None or (known.name, known.width) != (info.name, info.width):
            known = self._registered = await self.store.write(lambda tx: embeddings.register(tx, info))
        return known

    async def vector_of(self, question: str) -> bytes | None:
        """None when the embedder has none for it, or not in time."""
        try:
            async with asyncio.timeout(self._patience_s):
                (vector,) = await self.embedder.embed([question], urgent=True)
        except (EngineError, TimeoutError) as fault:
            self._by_words_alone(fault)
            return None
        self.fault = ""
        return vector

    async def near(
        self, index: VectorIndex, question: str, scope: Scope, limit: int, few: Sequence[int] | None = None
    ) -> list[Near]:
        """The nearest notes of the scope, the nearest first; none when there is no vector for the question."""
        vector = await self.vector_of(question)
        return await nearest(self.store, index, vector, scope, limit, few) if vector else []

    async def index(self) -> VectorIndex | None:
        """As new as the table; None when the embedder or the reading takes too long. Both go on meanwhile."""
        try:
            async with asyncio.timeout(self._patience_s):
                if self._follow is None or self._follow.done():
                    self._follow = asyncio.ensure_future(self.follow())
                    self._follow.add_done_callback(_hear)
                return await asyncio.shield(self._follow)
        except (EngineError, TimeoutError) as fault:
            self._by_words_alone(fault)
            return None

    def _by_words_alone(self, fault: Exception) -> None:
        self.fault = str(fault) or f"no vector within {self._patience_s:g} s"
        log.warning("search: by words alone: %s", self.fault)

    async def follow(self) -> VectorIndex:
        """The index, with what changed in the table since. Raises EngineError."""
        embedder = await self.registered()
        async with self._following:
            if self._index is None or self._index.embedder != embedder:
                held = await self.store.read(lambda tx: embeddings.count(tx, embedder))
                self._index = VectorIndex(embedder, held)
            await self._read_on(self._index)
            return self._index

    async def _read_on(self, index: VectorIndex) -> None:
        more = True
        while more:
            page = await self.store.read(lambda tx: embeddings.page(tx, index.embedder, index.upto))
            if page.vectors:
                await asyncio.to_thread(index.take_in, page.vectors)
            index.upto, more = page.upto, page.more


def _hear(task: asyncio.Task[T]) -> None:
    """Whoever waited may have gone: then its fault is told to the next one, by `fault` or by trying again."""
    if not task.cancelled():
        task.exception()

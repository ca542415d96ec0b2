"""A chat without a host: the model runs in this process, and the lease is held for one question at a time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from uniun_bots.chat.answer import Answer
from uniun_bots.chat.question import Question
from uniun_bots.chat.shiv import Shiv
from uniun_bots.chat.telling import Tell
from uniun_bots.clock import WallClock
from uniun_bots.context.packing import Costs
from uniun_bots.database.store import Store
from uniun_bots.graph.embeddings import any_vector
from uniun_bots.graph.note import Note
from uniun_bots.graph.scope import Scope
from uniun_bots.graph.search import search
from uniun_bots.graph.vectors import Vectors
from uniun_bots.host.embedders import make_embedder
from uniun_bots.host.engines import make_engines
from uniun_bots.host.lease import lease
from uniun_bots.host.searching import PATIENCE_S
from uniun_bots.inference.embed.embedder import Embedder, EmbedderInfo
from uniun_bots.inference.engine import Engine
from uniun_bots.inference.scheduler import Scheduler
from uniun_bots.personas.settings import HostSettings
from uniun_bots.skills.load_skills import load_skills


class Alone:
    """Models stay loaded between questions, so that the second one is answered sooner."""

    def __init__(
        self,
        folder: Path,
        file: Path,
        settings: HostSettings,
        environ: Mapping[str, str],
        engines: Mapping[str, Engine] | None = None,
    ) -> None:
        """`file`: the store. Raises ConfigError when a key of a model server is not in `environ`."""
        self._folder, self._file, self._settings, self._environ = folder, file, settings, environ
        self._given = engines or {}
        self._costs = Costs()
        self._engines: dict[str, Engine] = {}
        self._scheduler: Scheduler | None = None
        self._embedder: Embedder | None = None

    async def ask(self, question: Question, tell: Tell) -> Answer:
        """Raises HostRunning when somebody else holds the data folder, and what Shiv raises."""
        with lease(self._file.parent):
            async with Store(self._file) as store, self._vectors(store) as vectors:

                async def find(text: str, scope: Scope, limit: int) -> Sequence[Note]:
                    return [hit.note for hit in await search(store, vectors, text, scope, limit)]

                shiv = Shiv(
                    store=store,
                    scheduler=self._open(),
                    engines=self._engines,
                    search=find,
                    clock=WallClock(),
                    library=await asyncio.to_thread(load_skills, self._folder),
                    costs=self._costs,
                )
                return await shiv.ask(question, tell)

    async def aclose(self) -> None:
        """The memory is free; the next question takes it again."""
        scheduler, self._scheduler = self._scheduler, None
        embedder, self._embedder = self._embedder, None
        if scheduler:
            await scheduler.aclose()
        for engine in self._engines.values():
            await engine.aclose()
        if embedder:
            await embedder.aclose()

    def _open(self) -> Scheduler:
        if self._scheduler is None:
            self._engines = make_engines(self._settings, self._folder, self._environ) | dict(self._given)
            self._scheduler = Scheduler(self._engines)
        return self._scheduler

    @asynccontextmanager
    async def _vectors(self, store: Store) -> AsyncIterator[Vectors | None]:
        """None where no note has a vector: then words alone are searched."""
        if self._embedder is None and await store.read(any_vector):
            self._embedder = await asyncio.to_thread(
                make_embedder, self._settings, self._folder, self._environ
            )
        if self._embedder is None:
            yield None
            return
        vectors = Vectors(store, Lent(self._embedder), patience_s=PATIENCE_S)
        try:
            yield vectors
        finally:
            await vectors.aclose()


class Lent:
    """An embedder that outlives who uses it."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.name = embedder.name

    async def load(self) -> EmbedderInfo:
        return await self._embedder.load()

    async def embed(self, texts: Sequence[str], *, urgent: bool = False) -> list[bytes | None]:
        return await self._embedder.embed(texts, urgent=urgent)

    async def aclose(self) -> None:
        """It goes on."""

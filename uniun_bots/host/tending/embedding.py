"""Vectors in the background: notes get theirs when nothing is being heard, two calls at a time.

The queue is the notes themselves: those without a row of the present embedder. So a restart goes on where it was,
and another embedder finds that all notes wait for it. The rows of the one before stay until then.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

from uniun_bots.clock import monotonic
from uniun_bots.errors import EngineError
from uniun_bots.graph import embeddings
from uniun_bots.graph.embeddings import Queue, Registered, Waiting
from uniun_bots.graph.vectors import Vectors
from uniun_bots.host.premises import Premises
from uniun_bots.inference.embed.embedder import PROBE

log = logging.getLogger("uniun_bots.flow")

AT_A_TIME = 2
PORTION = 8
"""Texts of one call."""
FIRST_REST_S = 2.0
"""The start of a host is for answering."""
REST_S = 0.25
FLOOD = 40
"""So many new notes within a second are a backlog that is being ingested."""
LOOK_AGAIN_S = 60.0
"""Notes that came without a sign, such as our own and those of files, are found after this at the latest."""
RETRY_S = 30.0
MOST_TRIES = 3
"""With a working embedder; then a note is passed over."""


class Embedding:
    def __init__(self, premises: Premises, is_hearing: Callable[[], bool]) -> None:
        self._at, self._is_hearing = premises, is_hearing
        self._news = asyncio.Event()
        self._kept: deque[float] = deque(maxlen=FLOOD)
        self._tries: Counter[int] = Counter()
        self._started = False
        self.state = "off"

    def look(self, new: int) -> None:
        """So many notes were kept."""
        self._kept.extend([monotonic()] * min(new, FLOOD))
        self._news.set()

    @property
    def is_resting(self) -> bool:
        """While notes stream in, each core is for them."""
        flood = len(self._kept) == FLOOD and monotonic() - self._kept[0] < 1.0
        return flood or self._is_hearing()

    async def step(self) -> None:
        vectors = self._at.vectors
        if vectors is None:
            await asyncio.Event().wait()
            return
        if not self._started:
            self.state, self._started = "resting", True
            await self._pause(FIRST_REST_S)
        self._news.clear()
        await self._until_quiet()
        if not await self._at.store.read(embeddings.any_note):
            await self._until_news(LOOK_AGAIN_S)
            return
        try:
            await self._some(vectors, await vectors.registered())
        except EngineError as fault:
            self.state = "waiting for its embedder"
            log.warning("embed: notes wait for their vectors: %s", fault)
            await self._pause(RETRY_S)

    async def _until_quiet(self) -> None:
        while self.is_resting:
            self.state = "resting"
            await self._pause(REST_S)

    async def _some(self, vectors: Vectors, embedder: Registered) -> None:
        store = self._at.store
        found = await store.read(lambda tx: embeddings.queue(tx, embedder.id, AT_A_TIME * PORTION))
        if found.waiting:
            self.state = "embedding"
            await self._work_off(vectors, embedder, found)
        else:
            await store.write(lambda tx: embeddings.put(tx, embedder.id, found, ()))
        if not found.waiting and not found.more:
            await self._all_done(embedder)

    async def _work_off(self, vectors: Vectors, embedder: Registered, found: Queue) -> None:
        portions = [found.waiting[at : at + PORTION] for at in range(0, len(found.waiting), PORTION)]
        done = await asyncio.gather(*(self._vectors_of(vectors, portion) for portion in portions))
        pairs = [pair for portion in done for pair in portion]
        await self._at.store.write(lambda tx: embeddings.put(tx, embedder.id, found, pairs))

    async def _vectors_of(
        self, vectors: Vectors, portion: Sequence[Waiting]
    ) -> list[tuple[Waiting, bytes | None]]:
        try:
            found = await vectors.embedder.embed([one.text for one in portion])
            return list(zip(portion, found, strict=True))
        except EngineError as fault:
            if len(portion) == 1:
                return await self._try_again(vectors, portion[0], fault)
        return [pair for one in portion for pair in await self._vectors_of(vectors, [one])]

    async def _try_again(
        self, vectors: Vectors, note: Waiting, fault: EngineError
    ) -> list[tuple[Waiting, bytes | None]]:
        """An embedder that takes another text is not at fault. Raises what it says when it takes none."""
        await vectors.embedder.embed([PROBE])
        self._tries[note.seq] += 1
        if self._tries[note.seq] < MOST_TRIES:
            return []
        log.warning("embed: note %d is passed over: %s", note.seq, fault)
        return [(note, None)]

    async def _all_done(self, embedder: Registered) -> None:
        store = self._at.store
        self._tries.clear()
        while await store.read(lambda tx: embeddings.has_others(tx, embedder.id)):
            await store.write(lambda tx: embeddings.forget_others(tx, embedder.id))
        self.state = "done"
        await self._until_news(LOOK_AGAIN_S)

    async def _until_news(self, at_most_s: float) -> None:
        alarm = asyncio.ensure_future(self._pause(at_most_s))
        news = asyncio.ensure_future(self._news.wait())
        try:
            await asyncio.wait({alarm, news}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            alarm.cancel()
            news.cancel()

    async def _pause(self, seconds: float) -> None:
        await self._at.clock.sleep_until(self._at.clock.now() + seconds)

    async def status(self) -> dict[str, Any]:
        """As plain JSON values."""
        vectors = self._at.vectors
        if vectors is None:
            return {"embedder": "none", "state": "off"}
        progress = await self._at.store.read(lambda tx: embeddings.progress_of_all(tx, vectors.number))
        return asdict(vectors.status()) | {"state": self.state} | asdict(progress)

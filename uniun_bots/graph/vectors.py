"""Search by meaning: the table of vectors, an index that follows it, and the embedder that questions go through.

Scope is exact. A small scope is compared one by one. Of a large one the nearest of all are taken, more and more of
them until enough lie in the scope; if that does not end, it is scanned whole too, over the bytes of the table.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from uniun_bots.database.store import Store
from uniun_bots.errors import EngineError
from uniun_bots.graph import embeddings, index_file, index_rows
from uniun_bots.graph.by_words import FIRST_LOOK, within
from uniun_bots.graph.embeddings import Registered
from uniun_bots.graph.index_process import IndexProcess
from uniun_bots.graph.scope import Scope
from uniun_bots.graph.vector_index import Mark, Near, VectorIndex, scan
from uniun_bots.inference.embed.embedder import Embedder

log = logging.getLogger(__name__)
T = TypeVar("T")
Index = VectorIndex | IndexProcess

PATIENCE_S = 2.0
"""What a question waits for its vector; then words alone must do."""
MOST_SCANNED = 12_000
MOST_FETCHED = 16_384
WINDOW = 50_000
SAVE_AFTER = 5_000
WORTH_SAVING = 500
"""Changes, at the end: what is read again costs a fifth of a second."""
AT_HOME = 20_000
"""A larger index lives in a process of its own."""


@dataclass(frozen=True, slots=True)
class VectorStatus:
    embedder: str
    """As host.yaml spells it."""
    ready: bool
    indexed: int
    """Vectors in the index; fewer than embedded while it is made anew."""
    fault: str
    """Why the embedder gave nothing when it was last asked; empty when it did."""


class Vectors:
    def __init__(
        self, store: Store, embedder: Embedder, folder: Path, *, patience_s: float = PATIENCE_S
    ) -> None:
        """`folder` holds the index file."""
        self.store, self.embedder, self.folder = store, embedder, folder
        self._patience_s = patience_s
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="vectors")
        self._following = asyncio.Lock()
        self._registered: Registered | None = None
        self._index: Index | None = None
        self._ready: asyncio.Task[Registered] | None = None
        self._follow: asyncio.Task[Index | None] | None = None
        self.fault = ""

    async def aclose(self) -> None:
        """Little that was not saved is read from the table again at the next start."""
        for task in (self._ready, self._follow):
            if task is not None:
                task.cancel()
                await asyncio.wait([task])
        try:
            await self.save(max(WORTH_SAVING, len(self._index or ()) // 100))
        except OSError as fault:
            log.warning("search: the index is not saved: %s", fault)
        await self._drop()
        await self.embedder.aclose()
        await asyncio.to_thread(self._thread.shutdown)

    def status(self) -> VectorStatus:
        indexed = len(self._index) if self._index else 0
        return VectorStatus(self.embedder.name, self._registered is not None, indexed, self.fault)

    @property
    def number(self) -> int | None:
        """Of the embedder in the table, once it was ready."""
        return self._registered.id if self._registered else None

    # the embedder -------------------------------------------------------------------------------------

    async def registered(self) -> Registered:
        """The embedder as the table knows it. Raises EngineError."""
        try:
            info = await self.embedder.load()
        except EngineError as fault:
            self.fault = str(fault)
            raise
        known = self._registered
        if known is None or (known.name, known.width) != (info.name, info.width):
            known = await self.store.write(lambda tx: embeddings.register(tx, info))
            async with self._following:
                if self._registered != known:
                    self._registered = known
                    await self._drop()
        return known

    async def vector_of(self, question: str) -> bytes | None:
        """None when the embedder has none for it, or not in time. The start of an embedder goes on meanwhile."""
        try:
            async with asyncio.timeout(self._patience_s):
                if self._ready is None or self._ready.done():
                    self._ready = asyncio.ensure_future(self.registered())
                    self._ready.add_done_callback(_hear)
                await asyncio.shield(self._ready)
                (vector,) = await self.embedder.embed([question], urgent=True)
        except (EngineError, TimeoutError) as fault:
            self.fault = str(fault) or f"no vector within {self._patience_s:g} s"
            log.warning("search: by words alone: %s", self.fault)
            return None
        self.fault = ""
        return vector

    # the index ----------------------------------------------------------------------------------------

    async def follow(self) -> Index | None:
        """Take in what changed in the table, from a saved index or from nothing. None before `registered`.

        Raises ConnectionError when the index was in a process of its own that has gone.
        """
        async with self._following:
            embedder = self._registered
            if embedder is None:
                return None
            try:
                if isinstance(self._index, VectorIndex) and len(self._index) > AT_HOME:
                    await self._drop()
                if self._index is None:
                    self._index = await self._open(embedder)
                await self._read_on(self._index, embedder)
            except ConnectionError:
                await self._drop()
                raise
            return self._index

    async def _open(self, embedder: Registered) -> Index:
        found = await self._begin(self.folder, embedder)
        if found.mark != Mark():
            await self._read_on(found, embedder)
            held = await self.store.read(lambda tx: index_rows.vectors_held(tx, embedder.id))
            if len(found) != held:
                log.warning(
                    "search: the index holds %d vectors and the table %d: made anew", len(found), held
                )
                await self._close(found)
                return await self._begin(None, embedder)
        return found

    async def _begin(self, folder: Path | None, embedder: Registered) -> Index:
        """With what the folder holds, if it was made of this table."""
        newest = await self.store.read(index_rows.newest)
        held = await self.store.read(lambda tx: index_rows.vectors_held(tx, embedder.id))
        if held > AT_HOME:
            return await self._blocking(lambda: IndexProcess(folder, embedder, newest))
        return await self._blocking(lambda: _at_home(folder, embedder, newest))

    async def _drop(self) -> None:
        """The next one who follows makes it anew."""
        index, self._index = self._index, None
        if index is not None:
            await self._close(index)

    async def _close(self, index: Index) -> None:
        if isinstance(index, IndexProcess):
            await self._blocking(index.close)

    async def _read_on(self, index: Index, embedder: Registered) -> None:
        more = True
        while more:
            page = await self.store.read(lambda tx: index_rows.changes(tx, embedder, index.mark))
            if page.gone or page.fresh:
                await self._blocking(lambda: index.apply(page.gone, page.fresh, page.mark))  # noqa: B023
            index.mark, more = page.mark, page.more

    async def save(self, worth: int | None = None) -> None:
        """When so much has changed; without a number, when it is worth it for the size. Raises OSError."""
        async with self._following:
            index, embedder = self._index, self._registered
            if index is None or embedder is None:
                return
            if index.unsaved >= (max(SAVE_AFTER, len(index) // 10) if worth is None else worth):
                await self._blocking(lambda: _save(self.folder, index, embedder))
                await self.store.write(lambda tx: index_rows.forget_gone(tx, index.mark.gone))

    async def _blocking(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    # search -------------------------------------------------------------------------------------------

    async def near(
        self, question: str, scope: Scope, limit: int, few: Sequence[int] | None = None
    ) -> list[Near]:
        """The nearest notes of the scope, the nearest first; none when there is no vector for the question."""
        vector = await self.vector_of(question)
        return await self.nearest(vector, scope, limit, few) if vector else []

    async def nearest(
        self, vector: bytes, scope: Scope, limit: int, few: Sequence[int] | None = None
    ) -> list[Near]:
        """`few`: what `few_of` says of the scope."""
        try:
            return await self._nearest(vector, scope, limit, few)
        except ConnectionError as fault:
            log.warning("search: by words alone: %s", fault)
            async with self._following:
                await self._drop()
            return []

    async def _nearest(
        self, vector: bytes, scope: Scope, limit: int, few: Sequence[int] | None
    ) -> list[Near]:
        index, embedder = await self._index_in_time(), self._registered
        if embedder is None or len(vector) != embedder.width:
            return []
        if index is None:
            # It is being made anew. What can be told without it is told.
            rows = await self._rows(embedder, scope, MOST_SCANNED + 1)
            return await self._scan(vector, rows, limit) if len(rows) <= MOST_SCANNED else []
        if few is not None:
            return await self._nearest_of_few(index, vector, few, scope, limit)
        scanned, count = False, limit + limit // 4 if scope.everything else FIRST_LOOK * limit
        while True:
            near = await self._blocking(lambda: index.nearest(vector, count))  # noqa: B023
            found = await self._within(near, scope)
            if len(found) >= limit or len(near) < count:
                return found[:limit]
            count = _more(count, len(found), limit)
            if not scanned and count > 8 * len(near):
                scanned = True
                rows = await self._rows(embedder, scope, MOST_SCANNED + 1)
                if len(rows) <= MOST_SCANNED:
                    return await self._scan(vector, rows, limit)
            if count > MOST_FETCHED:
                return await self._scan_all(vector, embedder, scope, limit)

    async def _nearest_of_few(
        self, index: Index, vector: bytes, few: Sequence[int], scope: Scope, limit: int
    ) -> list[Near]:
        """More of them when there were some among the first ones that the reader may not see."""
        for count in (limit, 4 * limit, len(few)):
            near = await self._blocking(lambda: index.nearest_of(vector, few, count))  # noqa: B023
            found = await self._within(near, scope)
            if len(found) >= limit or len(near) < count:
                break
        return found[:limit]

    async def _index_in_time(self) -> Index | None:
        if self._follow is None or self._follow.done():
            self._follow = asyncio.ensure_future(self.follow())
            self._follow.add_done_callback(_hear)
        await asyncio.wait([self._follow], timeout=self._patience_s)
        return self._follow.result() if self._follow.done() else None

    async def _within(self, near: Sequence[Near], scope: Scope) -> list[Near]:
        seqs = [one.seq for one in near]
        allowed = await self.store.read(lambda tx: within(tx, seqs, scope))
        return [one for one in near if one.seq in allowed]

    async def _rows(
        self, embedder: Registered, scope: Scope, at_most: int, seqs: range | None = None
    ) -> list[tuple[int, bytes]]:
        return await self.store.read(lambda tx: index_rows.vectors_within(tx, embedder, scope, at_most, seqs))

    async def _scan(self, vector: bytes, rows: Sequence[tuple[int, bytes]], limit: int) -> list[Near]:
        whole = [row for row in rows if len(row[1]) == len(vector)]
        return await self._blocking(lambda: scan(vector, whole, limit))

    async def _scan_all(self, vector: bytes, embedder: Registered, scope: Scope, limit: int) -> list[Near]:
        """A large scope that lies far from the question."""
        best: list[Near] = []
        newest = await self.store.read(lambda tx: tx.execute("SELECT max(seq) FROM notes").fetchone()[0])
        for start in range(0, newest + 1, WINDOW):
            rows = await self._rows(embedder, scope, WINDOW, range(start, start + WINDOW))
            best += await self._scan(vector, rows, limit)
            best = sorted(best, key=lambda one: one.distance)[:limit]
        return best


def _at_home(folder: Path | None, embedder: Registered, newest: Mark) -> VectorIndex:
    found = index_file.load(folder, embedder, newest) if folder else None
    return found or VectorIndex(embedder.width)


def _save(folder: Path, index: Index, embedder: Registered) -> None:
    if isinstance(index, IndexProcess):
        index.save(folder, embedder)
    else:
        index_file.save(folder, index, embedder)


def _hear(task: asyncio.Task[T]) -> None:
    """Whoever waited may have gone: then its fault is told to the next one, by `fault` or by trying again."""
    if not task.cancelled():
        task.exception()


def _more(count: int, found: int, limit: int) -> int:
    """As many as may do, if the rest is like what was seen; with nothing seen far more than would be fetched."""
    return max(2 * count, 2 * count * limit // found) if found else MOST_FETCHED + 1

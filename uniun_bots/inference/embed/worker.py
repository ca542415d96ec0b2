"""The embedder's worker process: texts one after another, urgent ones first, at the lowest priority there is.

Started as `python -m` by the embedder. The end of the host is the end of its pipe, and of this process.
"""

from __future__ import annotations

import base64
import os
import queue
import threading
from dataclasses import dataclass, field
from pathlib import Path

from uniun_bots.errors import EngineError, ModelUnusable
from uniun_bots.inference.embed import minilm
from uniun_bots.inference.embed.model import MOST_TOKENS, EmbeddingModel, small_minilm
from uniun_bots.inference.llama.pipe import Pipe, failure, open_pipe
from uniun_bots.inference.llama.protocol import Embed, Embedded, Load, Loaded

NICEST = 19


@dataclass(order=True, slots=True)
class _Waiting:
    later: bool
    id: int
    asked: Embed = field(compare=False)
    done: list[str] = field(compare=False, default_factory=list)


class EmbedWorker:
    def __init__(self, pipe: Pipe) -> None:
        self._pipe = pipe
        self._waiting: queue.PriorityQueue[_Waiting] = queue.PriorityQueue()

    def run(self) -> None:
        load = self._pipe.load()
        try:
            self._model = open_model(load)
        except EngineError as error:
            self._pipe.say(failure(load.id, error))
            return
        self._pipe.say(Loaded(self._model.tokens, width=self._model.width))
        threading.Thread(target=self._listen, daemon=True).start()
        while True:
            self._step(self._waiting.get())

    def _listen(self) -> None:
        for message in self._pipe.asked():
            if isinstance(message, Embed):
                self._waiting.put(_Waiting(not message.urgent, message.id, message))
        os._exit(0)

    def _step(self, one: _Waiting) -> None:
        """One text; then whoever is first in line."""
        try:
            vector = self._model.embed(one.asked.texts[len(one.done)])
        except Exception as error:
            # Whatever went wrong in Python ends this request only.
            self._pipe.say(failure(one.id, error))
            return
        one.done.append(base64.b64encode(vector or b"").decode())
        if len(one.done) < len(one.asked.texts):
            self._pipe.say(Embedded(one.id, (), whole=False))
            self._waiting.put(one)
        else:
            self._pipe.say(Embedded(one.id, tuple(one.done)))


def open_model(load: Load) -> EmbeddingModel:
    """A GGUF, or a package's folder of weights that becomes one first. Raises ModelUnusable."""
    if not load.cache:
        return EmbeddingModel(Path(load.path), plain=load.plain, tokens=load.context_tokens or MOST_TOKENS)
    made = Path(load.cache)
    if made.exists():
        try:
            return EmbeddingModel(made, plain=load.plain, tokens=minilm.TOKENS)
        except ModelUnusable:
            made.unlink()
    small_minilm(Path(load.path), made)
    return EmbeddingModel(made, plain=load.plain, tokens=minilm.TOKENS)


if __name__ == "__main__":
    os.nice(NICEST)
    EmbedWorker(open_pipe()).run()

"""The embedder's worker process: texts one after another, urgent ones first, at the lowest priority there is.

Started as `python -m` by the embedder. The end of the host is the end of its pipe, and of this process.
"""

from __future__ import annotations

import base64
import os
import queue
import sys
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from uniun_bots.errors import EngineError, ModelUnusable
from uniun_bots.inference.embed import minilm
from uniun_bots.inference.embed.model import MOST_TOKENS, EmbeddingModel, small_minilm
from uniun_bots.inference.llama.protocol import (
    Embed,
    Embedded,
    Failed,
    FromWorker,
    Load,
    Loaded,
    decode,
    encode,
)

NICEST = 19


@dataclass(order=True, slots=True)
class _Waiting:
    later: bool
    id: int
    asked: Embed = field(compare=False)
    done: list[str] = field(compare=False, default_factory=list)


class EmbedWorker:
    def __init__(self, lines: BinaryIO, answers: BinaryIO) -> None:
        self._lines, self._answers = lines, answers
        self._waiting: queue.PriorityQueue[_Waiting] = queue.PriorityQueue()

    def run(self) -> None:
        load = decode(self._lines.readline())
        if not isinstance(load, Load):
            raise ValueError(f"the first line must be Load, not {load}")
        try:
            self._model = open_model(load)
        except EngineError as error:
            self._say(Failed(load.id, type(error).__name__, str(error)))
            return
        self._say(Loaded(self._model.tokens, width=self._model.width))
        threading.Thread(target=self._listen, daemon=True).start()
        while True:
            self._step(self._waiting.get())

    def _listen(self) -> None:
        for line in self._lines:
            message = decode(line)
            if isinstance(message, Embed):
                self._waiting.put(_Waiting(not message.urgent, message.id, message))
        os._exit(0)

    def _step(self, one: _Waiting) -> None:
        """One text; then whoever is first in line."""
        try:
            vector = self._model.embed(one.asked.texts[len(one.done)])
        except Exception as error:
            # Whatever went wrong in Python ends this request only.
            told = f"the embedder stumbled: {type(error).__name__}: {error}"
            self._say(Failed(one.id, EngineError.__name__, told))
            return
        one.done.append(base64.b64encode(vector or b"").decode())
        if len(one.done) < len(one.asked.texts):
            self._say(Embedded(one.id, (), whole=False))
            self._waiting.put(one)
        else:
            self._say(Embedded(one.id, tuple(one.done)))

    def _say(self, message: FromWorker) -> None:
        self._answers.write(encode(message))
        self._answers.flush()


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


def main() -> None:
    os.nice(NICEST)
    # Answers leave by a descriptor of their own; whatever a library prints goes to stderr.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    EmbedWorker(sys.stdin.buffer, answers).run()


if __name__ == "__main__":
    main()

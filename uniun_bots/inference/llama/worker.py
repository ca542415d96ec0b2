"""The worker process: one model, one request at a time. Started as `python -m` by the engine.

One thread generates, another reads what the host says, so that a cancel is heard at once.
The end of the host is the end of its pipe, and of this process.
"""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable
from functools import partial

from uniun_bots.errors import EngineError
from uniun_bots.inference.llama.live_sequence import Cancelled
from uniun_bots.inference.llama.model import Model
from uniun_bots.inference.llama.pipe import Pipe, failure, open_pipe
from uniun_bots.inference.llama.protocol import (
    CANCELLED,
    Cancel,
    Done,
    Failed,
    FromWorker,
    Generate,
    Loaded,
    Piece,
)


class Worker:
    def __init__(self, pipe: Pipe) -> None:
        self._pipe = pipe
        self._asked: queue.SimpleQueue[Generate] = queue.SimpleQueue()
        self._cancelling = threading.Lock()
        self._cancelled: set[int] = set()
        self._running: int | None = None

    def run(self) -> None:
        load = self._pipe.load()
        try:
            self._model = Model(load)
        except EngineError as error:
            self._pipe.say(failure(load.id, error))
            return
        self._pipe.say(Loaded(self._model.context_tokens))
        threading.Thread(target=self._listen, daemon=True).start()
        while True:
            self._answer(self._asked.get())

    def _listen(self) -> None:
        for message in self._pipe.asked():
            if isinstance(message, Generate):
                self._asked.put(message)
            elif isinstance(message, Cancel):
                self._cancel(message.id)
        os._exit(0)

    def _cancel(self, number: int) -> None:
        with self._cancelling:
            if self._running == number:
                self._model.sequence.abort = True
            else:
                self._cancelled.add(number)

    def _answer(self, asked: Generate) -> None:
        with self._cancelling:
            self._running = asked.id
            self._model.sequence.abort = asked.id in self._cancelled
            self._cancelled.clear()
        self._try(asked.id, partial(self._generate, asked))
        with self._cancelling:
            self._running = None

    def _generate(self, asked: Generate) -> Done:
        return self._model.generate(
            asked.id, asked.request, lambda text: self._pipe.say(Piece(asked.id, text))
        )

    def _try(self, number: int, work: Callable[[], FromWorker]) -> None:
        try:
            self._pipe.say(work())
        except Cancelled:
            self._pipe.say(Failed(number, CANCELLED, "cancelled", counts=self._model.counts()))
        except Exception as error:
            # Whatever went wrong in Python ends this request only.
            self._pipe.say(failure(number, error))


if __name__ == "__main__":
    Worker(open_pipe()).run()

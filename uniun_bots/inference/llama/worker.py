"""The worker process: one model, one request at a time. Started as `python -m` by the engine.

One thread generates, another reads what the host says, so that a cancel and a count are heard at once.
The end of the host is the end of its pipe, and of this process.
"""

from __future__ import annotations

import os
import queue
import sys
import threading
from collections.abc import Callable
from functools import partial
from typing import BinaryIO

from uniun_bots.errors import EngineError, PromptTooLong
from uniun_bots.inference.llama.live_sequence import Cancelled
from uniun_bots.inference.llama.model import Model
from uniun_bots.inference.llama.protocol import (
    CANCELLED,
    Cancel,
    Count,
    Counted,
    Done,
    Failed,
    FromWorker,
    Generate,
    Load,
    Loaded,
    Piece,
    decode,
    encode,
)


class Worker:
    def __init__(self, lines: BinaryIO, answers: BinaryIO) -> None:
        self._lines = lines
        self._answers = answers
        self._writing = threading.Lock()
        self._asked: queue.SimpleQueue[Generate] = queue.SimpleQueue()
        self._cancelling = threading.Lock()
        self._cancelled: set[int] = set()
        self._running: int | None = None

    def run(self) -> None:
        load = decode(self._lines.readline())
        if not isinstance(load, Load):
            raise ValueError(f"the first line must be Load, not {load}")
        try:
            self._model = Model(load)
        except EngineError as error:
            self._say(_failure(load.id, error))
            return
        self._say(Loaded(self._model.context_tokens))
        threading.Thread(target=self._listen, daemon=True).start()
        while True:
            self._answer(self._asked.get())

    def _listen(self) -> None:
        for line in self._lines:
            message = decode(line)
            if isinstance(message, Generate):
                self._asked.put(message)
            elif isinstance(message, Cancel):
                self._cancel(message.id)
            elif isinstance(message, Count):
                self._try(message.id, partial(self._count, message))
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

    def _count(self, asked: Count) -> Counted:
        return Counted(asked.id, self._model.count(asked.messages))

    def _generate(self, asked: Generate) -> Done:
        return self._model.generate(asked.id, asked.request, lambda text: self._say(Piece(asked.id, text)))

    def _try(self, number: int, work: Callable[[], FromWorker]) -> None:
        try:
            self._say(work())
        except Cancelled:
            self._say(Failed(number, CANCELLED, "cancelled", counts=self._model.counts()))
        except Exception as error:
            # Whatever went wrong in Python ends this request only.
            self._say(_failure(number, error))

    def _say(self, message: FromWorker) -> None:
        with self._writing:
            self._answers.write(encode(message))
            self._answers.flush()


def _failure(number: int, error: Exception) -> Failed:
    if isinstance(error, PromptTooLong):
        numbers = (error.prompt_tokens, error.context_tokens, error.answer_tokens)
        return Failed(number, type(error).__name__, str(error), numbers)
    if isinstance(error, EngineError):
        return Failed(number, type(error).__name__, str(error))
    return Failed(number, EngineError.__name__, f"the worker stumbled: {type(error).__name__}: {error}")


def main() -> None:
    # Answers leave by a descriptor of their own; whatever a library prints goes to stderr.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    Worker(sys.stdin.buffer, answers).run()


if __name__ == "__main__":
    main()

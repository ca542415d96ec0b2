"""A worker's end of the pipe: what the host says comes in lines, and so does what it is told."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from typing import BinaryIO

from uniun_bots.errors import EngineError, PromptTooLong
from uniun_bots.inference.llama.protocol import Failed, FromWorker, Load, ToWorker, decode, encode


class Pipe:
    def __init__(self, lines: BinaryIO, answers: BinaryIO) -> None:
        self._lines = lines
        self._answers = answers
        self._writing = threading.Lock()

    def load(self) -> Load:
        """The first line."""
        first = decode(self._lines.readline())
        if not isinstance(first, Load):
            raise ValueError(f"the first line must be Load, not {first}")
        return first

    def asked(self) -> Iterator[ToWorker | FromWorker]:
        """The other lines, until the host is gone."""
        return (decode(line) for line in self._lines)

    def say(self, message: FromWorker) -> None:
        with self._writing:
            self._answers.write(encode(message))
            self._answers.flush()


def open_pipe() -> Pipe:
    """Answers leave by a descriptor of their own; whatever a library prints goes to stderr."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return Pipe(sys.stdin.buffer, answers)


def failure(number: int, error: Exception) -> Failed:
    if isinstance(error, PromptTooLong):
        numbers = (error.prompt_tokens, error.context_tokens, error.answer_tokens)
        return Failed(number, type(error).__name__, str(error), numbers)
    if isinstance(error, EngineError):
        return Failed(number, type(error).__name__, str(error))
    return Failed(number, EngineError.__name__, f"the worker stumbled: {type(error).__name__}: {error}")

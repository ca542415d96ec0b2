"""A large index in a process of its own.

usearch stops all Python of a process while it reads or writes a file: half a second for a million vectors. Here that
stops nobody else; and the memory of a large index, and its death, are its own.
"""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from uniun_bots.graph import index_file
from uniun_bots.graph.embeddings import Registered
from uniun_bots.graph.vector_index import Mark, Near, VectorIndex

CLOSE_S = 5.0
Work = Callable[..., Any]
"""A function of an index and of what was sent along."""


class IndexProcess:
    """An index as `VectorIndex` is one, over a pipe. Blocking, for one thread at a time.

    Everything raises ConnectionError once the process is gone: then another one is made.
    """

    def __init__(self, folder: Path | None, embedder: Registered, newest: Mark) -> None:
        """With what `folder` holds, or empty when that was not made of this table."""
        ours, theirs = socket.socketpair()
        with theirs:
            command = [sys.executable, "-m", __name__, str(theirs.fileno()), str(embedder.width)]
            # In a session of its own: an interrupt from the terminal is for the host.
            self.process = subprocess.Popen(  # noqa: S603
                command, stdin=subprocess.DEVNULL, pass_fds=[theirs.fileno()], start_new_session=True
            )
        self._pipe = Connection(ours.detach())
        self.width, self.unsaved, self._count = embedder.width, 0, 0
        self.mark: Mark = self._ask(_load, folder, embedder, newest)

    def __len__(self) -> int:
        return self._count

    def apply(self, gone: Iterable[int], fresh: Sequence[tuple[int, bytes]], mark: Mark) -> None:
        self._ask(_apply, tuple(gone), fresh, mark)
        self.mark = mark

    def nearest(self, vector: bytes, count: int) -> list[Near]:
        found: list[Near] = self._ask(_nearest, vector, count)
        return found

    def nearest_of(self, vector: bytes, seqs: Sequence[int], count: int) -> list[Near]:
        found: list[Near] = self._ask(_nearest_of, vector, seqs, count)
        return found

    def save(self, folder: Path, embedder: Registered) -> None:
        """Raises OSError."""
        self._ask(_save, folder, embedder, self.mark)

    def close(self) -> None:
        """It ends by itself when nobody can ask it any more."""
        self._pipe.close()
        try:
            self.process.wait(CLOSE_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def _ask(self, work: Work, *given: Any) -> Any:
        try:
            self._pipe.send((work, given))
            result, self._count, self.unsaved = self._pipe.recv()
        except (EOFError, OSError) as fault:
            raise ConnectionError("the process of the index is gone") from fault
        if isinstance(result, Exception):
            raise result
        return result


class Held:
    """What the process holds."""

    def __init__(self, width: int) -> None:
        self.index = VectorIndex(width)


def _load(held: Held, folder: Path | None, embedder: Registered, newest: Mark) -> Mark:
    found = index_file.load(folder, embedder, newest) if folder else None
    held.index = found or VectorIndex(embedder.width)
    # Half of the cores: notes are heard and embedded meanwhile.
    held.index.threads = max(1, (os.cpu_count() or 1) // 2)
    return held.index.mark


def _apply(held: Held, gone: Sequence[int], fresh: Sequence[tuple[int, bytes]], mark: Mark) -> None:
    held.index.apply(gone, fresh, mark)


def _nearest(held: Held, vector: bytes, count: int) -> list[Near]:
    return held.index.nearest(vector, count)


def _nearest_of(held: Held, vector: bytes, seqs: Sequence[int], count: int) -> list[Near]:
    return held.index.nearest_of(vector, seqs, count)


def _save(held: Held, folder: Path, embedder: Registered, mark: Mark) -> None:
    held.index.mark = mark
    index_file.save(folder, held.index, embedder)


def serve(pipe: Connection, width: int) -> None:
    """Until the other side is gone."""
    held = Held(width)
    with contextlib.suppress(EOFError, ConnectionError):
        while True:
            work, given = pipe.recv()
            pipe.send((_result(work, held, given), len(held.index), held.index.unsaved))


def _result(work: Work, held: Held, given: Sequence[Any]) -> Any:
    """What it gives, or the exception that it raises."""
    try:
        return work(held, *given)
    except Exception as fault:
        return fault


if __name__ == "__main__":
    serve(Connection(int(sys.argv[1])), int(sys.argv[2]))

"""The vectors of all notes in memory. A question is held against each of them: what is nearest is no guess.

Blocking. numpy and numkong are imported when the first index is made: a host that never searches by meaning does not
pay for them. Both let other threads run while they compute.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from uniun_bots.graph.embeddings import Registered

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

BLOCK = 100_000
"""Vectors that are compared in one go: in about five milliseconds."""
THREADS = 2


@dataclass(frozen=True, slots=True)
class Near:
    seq: int
    distance: float
    """1 - cosine."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """Arrival numbers, and how far each is from the question."""

    seqs: npt.NDArray[np.int64]
    distances: npt.NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.seqs)

    def best(self, count: int) -> list[Near]:
        """The nearest first."""
        import numpy as np

        whole = count >= len(self)
        some = np.arange(len(self)) if whole else np.argpartition(self.distances, count)[:count]
        some = some[np.argsort(self.distances[some], kind="stable")]
        return list(map(Near, self.seqs[some].tolist(), self.distances[some].tolist()))

    def of(self, seqs: Sequence[int]) -> Ranking:
        import numpy as np

        wanted = np.isin(self.seqs, np.array(seqs, dtype=np.int64))
        return Ranking(self.seqs[wanted], self.distances[wanted])


class VectorIndex:
    def __init__(self, embedder: Registered, room: int = 0) -> None:
        """`room`: for so many vectors no more memory has to be found."""
        import numpy as np

        self.embedder = embedder
        self.upto = 0
        """How far the table was read."""
        self._lock = threading.Lock()
        self._count = 0
        self._vectors = np.zeros((room, embedder.width), np.int8)
        self._lengths = np.zeros(room, np.float32)
        self._seqs = np.zeros(room, np.int64)
        # By arrival number: the row of its vector, counted from 1; 0 for none.
        self._rows = np.zeros(room, np.int32)

    def __len__(self) -> int:
        return self._count

    def take_in(self, vectors: Sequence[tuple[int, bytes]]) -> None:
        """By arrival number, each once. The new vector of a note that changed takes the place of the old one."""
        import numpy as np

        seqs = np.array([seq for seq, _ in vectors], dtype=np.int64)
        many = np.frombuffer(b"".join([vector for _, vector in vectors]), np.int8)
        many = many.reshape(len(seqs), self.embedder.width)
        with self._lock:
            rows = self._rows_for(seqs)
            self._seqs[rows], self._vectors[rows], self._lengths[rows] = seqs, many, _lengths(many)

    def _rows_for(self, seqs: npt.NDArray[np.int64]) -> npt.NDArray[np.int32]:
        import numpy as np

        self._rows = _with_room(self._rows, int(seqs.max(initial=0)) + 1)
        rows = self._rows[seqs]
        fresh = rows == 0
        count = self._count + int(fresh.sum())
        self._seqs = _with_room(self._seqs, count)
        self._lengths = _with_room(self._lengths, count)
        self._vectors = _with_room(self._vectors, count)
        rows[fresh] = np.arange(self._count, count) + 1
        self._rows[seqs], self._count = rows, count
        return rows - 1

    def compare(self, vector: bytes, seqs: Sequence[int] | None = None) -> Ranking:
        """With all, or with these. Raises ValueError for another width: no distance to it means anything."""
        import numpy as np

        if len(vector) != self.embedder.width:
            raise ValueError(f"a vector of width {len(vector)} was held against width {self.embedder.width}")
        asked = np.frombuffer(vector, np.int8).reshape(1, -1)
        with self._lock:
            rows: Any = slice(self._count) if seqs is None else self._rows_of(seqs)
            distances = _distances(asked, self._vectors[rows], self._lengths[rows])
            return Ranking(self._seqs[rows], distances)

    def _rows_of(self, seqs: Sequence[int]) -> npt.NDArray[np.int32]:
        import numpy as np

        asked = np.array(seqs, dtype=np.int64)
        rows = self._rows[asked[asked < len(self._rows)]]
        return rows[rows > 0] - 1


def _with_room(array: Any, needed: int) -> Any:
    """The same, or a longer copy. What is not used yet takes no memory."""
    import numpy as np

    if needed <= len(array):
        return array
    longer = np.zeros((needed + needed // 4, *array.shape[1:]), array.dtype)
    longer[: len(array)] = array
    return longer


def _lengths(many: npt.NDArray[np.int8]) -> npt.NDArray[np.float32]:
    import numpy as np

    # A vector of zeros, which no embedder of ours gives, is far from everything.
    lengths: npt.NDArray[np.float32] = np.sqrt(np.einsum("ij,ij->i", many, many, dtype=np.float32))
    return np.maximum(lengths, 1.0)


def _distances(
    asked: npt.NDArray[np.int8], many: npt.NDArray[np.int8], lengths: npt.NDArray[np.float32]
) -> npt.NDArray[np.float32]:
    import numkong
    import numpy as np

    distances = np.empty(len(many), np.float32)
    asked_length = _lengths(asked)

    def compare(block: slice) -> None:
        products: npt.NDArray[np.float64] = np.asarray(numkong.cdist(asked, many[block], "dot"))[0]
        # In place: finding memory for that many numbers takes as long as what is done with them.
        products /= lengths[block]
        products /= -asked_length
        products += 1.0
        distances[block] = products

    blocks = [slice(at, at + BLOCK) for at in range(0, len(many), BLOCK)]
    if len(blocks) > 1:
        with ThreadPoolExecutor(THREADS) as pool:
            list(pool.map(compare, blocks))
    elif blocks:
        compare(blocks[0])
    return distances

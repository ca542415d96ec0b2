"""An index over vectors: nearest ones fast. Derived from the table, so it may be thrown away at any time.

Blocking, and for one thread at a time. numpy and usearch are imported when the first one is made: a host that never
searches by meaning does not pay for them.
"""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

EXACT_UP_TO = 20_000
"""So many vectors are compared one by one in a millisecond; beyond that the index's graph is asked."""
CONNECTIVITY = 16
EXPANSION_ADD = 128
EXPANSION_SEARCH = 256
PART = 100_000
"""Vectors of one graph. In a larger one heaps of like texts lose touch with each other: of a million vectors in one
graph, one question in fifteen found nothing of what was nearest."""
PORTION = 2_000
"""Vectors got out of an index in one call: meanwhile no other thread runs Python."""


@dataclass(frozen=True, slots=True)
class Near:
    seq: int
    distance: float
    """1 - cosine."""


@dataclass(frozen=True, slots=True)
class Mark:
    """How far the table was read."""

    change: int = 0
    gone: int = 0


class VectorIndex:
    def __init__(self, width: int, mark: Mark | None = None, loaded: Sequence[Any] = ()) -> None:
        self.width = width
        self.mark = mark or Mark()
        self.unsaved = 0
        self.threads = 1
        self.parts: list[Any] = list(loaded) or [empty(width)]

    def __len__(self) -> int:
        return sum(len(part) for part in self.parts)

    def seqs(self) -> npt.NDArray[np.uint64]:
        import numpy as np

        return np.concatenate([part.keys[: len(part)] for part in self.parts])

    def apply(self, gone: Iterable[int], fresh: Sequence[tuple[int, bytes]], mark: Mark) -> None:
        """First what went, then what came: a note that changed has gone and come again."""
        import numpy as np

        seqs = np.array([seq for seq, _ in fresh], dtype=np.uint64)
        leaving = np.array([*gone, *seqs.tolist()], dtype=np.uint64)
        self.unsaved += sum(_take_out(part, leaving) for part in self.parts) + len(seqs)
        self.parts = [part for part in self.parts if len(part)] or [empty(self.width)]
        if len(seqs):
            if len(self.parts[-1]) >= PART:
                self.parts.append(empty(self.width))
            many = matrix([vector for _, vector in fresh], self.width)
            self.parts[-1].add(seqs, many, threads=self.threads)
        self.mark = mark

    def nearest(self, vector: bytes, count: int) -> list[Near]:
        """Raises ValueError for a vector of another width: a distance to it would mean nothing."""
        self._check_width(vector)
        exact = len(self) <= EXACT_UP_TO
        found = [near for part in self.parts for near in _nearest_in(part, vector, count, exact)]
        return sorted(found, key=lambda one: one.distance)[:count]

    def nearest_of(self, vector: bytes, seqs: Sequence[int], count: int) -> list[Near]:
        """Of these notes, one by one. Raises ValueError for a vector of another width."""
        import numpy as np

        self._check_width(vector)
        if not len(self) or not seqs:
            return []
        asked = np.array(seqs, dtype=np.uint64)
        here = [asked[part.contains(asked)] for part in self.parts]
        rows = [
            row
            for part, keys in zip(self.parts, here, strict=True)
            for at in range(0, len(keys), PORTION)
            for row in part.get(keys[at : at + PORTION])
        ]
        if not rows:
            return []
        return _ranked(vector, np.concatenate(here), np.concatenate(rows).reshape(-1, self.width), count)

    def _check_width(self, vector: bytes) -> None:
        if len(vector) != self.width:
            raise ValueError(f"a vector of width {len(vector)} was held against width {self.width}")


def _usearch() -> Any:
    """It brings a C++ runtime of its own and offers it to whatever is loaded later: llama.cpp could then not
    read a model's vocabulary in this process. With the system's runtime in place nothing of it is taken."""
    with contextlib.suppress(OSError):  # macOS has no such file, and no such sharing
        ctypes.CDLL("libstdc++.so.6", mode=ctypes.RTLD_GLOBAL)
    import usearch.index

    return usearch.index


def empty(width: int) -> Any:
    return _usearch().Index(
        ndim=width,
        metric="cos",
        dtype="i8",
        connectivity=CONNECTIVITY,
        expansion_add=EXPANSION_ADD,
        expansion_search=EXPANSION_SEARCH,
    )


def _take_out(part: Any, leaving: npt.NDArray[np.uint64]) -> int:
    """How many of them it held."""
    import numpy as np

    held = leaving[part.contains(leaving)] if len(part) and len(leaving) else leaving[:0]
    if len(held):
        part.remove(np.unique(held))
    return len(held)


def _nearest_in(part: Any, vector: bytes, count: int, exact: bool) -> list[Near]:
    import numpy as np

    if not len(part):
        return []
    part.expansion_search = max(EXPANSION_SEARCH, count + count // 4)
    asked = np.frombuffer(vector, np.int8)
    found = part.search(asked, min(count, len(part)), exact=exact, threads=1)
    return list(map(Near, found.keys.tolist(), found.distances.tolist()))


def matrix(vectors: Sequence[bytes], width: int) -> npt.NDArray[np.int8]:
    import numpy as np

    return np.frombuffer(b"".join(vectors), np.int8).reshape(len(vectors), width)


def scan(vector: bytes, rows: Sequence[tuple[int, bytes]], count: int) -> list[Near]:
    """The true nearest of these, one by one."""
    return _ranked(vector, [row[0] for row in rows], matrix([row[1] for row in rows], len(vector)), count)


def _ranked(
    vector: bytes, seqs: Sequence[int] | npt.NDArray[np.uint64], many: npt.NDArray[np.int8], count: int
) -> list[Near]:
    import numpy as np

    if not len(seqs):
        return []
    asked, count = np.frombuffer(vector, np.int8), min(count, len(seqs))
    found = _usearch().search(many, asked, count, "cos", exact=True, threads=1)
    return [
        Near(int(seqs[at]), distance)
        for at, distance in zip(found.keys.tolist(), found.distances.tolist(), strict=True)
    ]

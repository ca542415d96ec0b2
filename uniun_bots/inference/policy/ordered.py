"""A set with a smallest member: every operation O(log n), removal from the middle included."""

from __future__ import annotations

import heapq
from collections.abc import Hashable, Iterator
from typing import Generic, TypeVar

from uniun_bots.inference.policy.ticket import Key

T = TypeVar("T", bound=Hashable)
SPARE = 64


class Ordered(Generic[T]):
    """A heap whose dead entries are skipped, and swept out when they are more than the living."""

    def __init__(self) -> None:
        self._keys: dict[T, Key] = {}
        self._heap: list[tuple[Key, int, T]] = []
        self._pushed = 0

    def __len__(self) -> int:
        return len(self._keys)

    def __contains__(self, item: T) -> bool:
        return item in self._keys

    def __iter__(self) -> Iterator[T]:
        return iter(self._keys)

    def put(self, item: T, key: Key) -> None:
        """Add it, or move it to another key."""
        if self._keys.get(item) == key:
            return
        self._keys[item] = key
        self._pushed += 1
        heapq.heappush(self._heap, (key, self._pushed, item))
        if len(self._heap) > 2 * len(self._keys) + SPARE:
            self._sweep()

    def discard(self, item: T) -> None:
        self._keys.pop(item, None)

    def first(self) -> tuple[Key, T] | None:
        while self._heap:
            key, _, item = self._heap[0]
            if self._keys.get(item) == key:
                return key, item
            heapq.heappop(self._heap)
        return None

    def _sweep(self) -> None:
        self._heap = [(key, number, item) for number, (item, key) in enumerate(self._keys.items())]
        heapq.heapify(self._heap)

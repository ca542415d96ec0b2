"""Copies of sequence states that are not in the context now, the least recently used ones out first."""

from __future__ import annotations

import ctypes
import mmap
from array import array
from collections.abc import Callable, Sequence

# Where it is known, the pages are brought in at once instead of one fault each: half the time.
_FLAGS = {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_POPULATE", 0)}


class KeptState:
    """Memory of its own, which goes back to the system at `free` to the last byte."""

    def __init__(self, tokens: Sequence[int], size_bytes: int) -> None:
        """Raises OSError when the system has no such memory."""
        self.tokens = array("i", tokens)
        self.size_bytes = size_bytes
        self._memory = mmap.mmap(-1, size_bytes, **_FLAGS)

    def lend(self, use: Callable[[object], int]) -> int:
        """What `use` gives for the bytes as a C array; it must not hold on to them."""
        view = (ctypes.c_uint8 * self.size_bytes).from_buffer(self._memory)
        try:
            return use(view)
        finally:
            del view

    def free(self) -> None:
        self._memory.close()


class KeptStates:
    def __init__(self, most_bytes: int) -> None:
        self.most_bytes = most_bytes
        self.whole_only = False
        """For models that cannot forget the end of a sequence: a state is used with all of its tokens or not."""
        self._states: list[KeptState] = []
        """The least recently used one first."""

    def __len__(self) -> int:
        return len(self._states)

    @property
    def size_bytes(self) -> int:
        return sum(state.size_bytes for state in self._states)

    def closest(self, wanted: Sequence[int]) -> tuple[KeptState | None, int]:
        """The state with the longest common beginning that can be used, and how many tokens that is."""
        best, longest = None, 0
        for state in self._states:
            shared = self.usable(state.tokens, wanted)
            if shared > longest:
                best, longest = state, shared
        return best, longest

    def usable(self, known: Sequence[int], wanted: Sequence[int]) -> int:
        """How many tokens of a known sequence can be used for the wanted one."""
        shared = common(known, wanted)
        return shared if shared == len(known) or not self.whole_only else 0

    def touch(self, state: KeptState) -> None:
        self._states.remove(state)
        self._states.append(state)

    def covers(self, tokens: Sequence[int]) -> bool:
        return any(self.usable(state.tokens, tokens) == len(tokens) for state in self._states)

    def keep(
        self,
        tokens: Sequence[int],
        size_bytes: int,
        fill: Callable[[object], int],
        beside: KeptState | None = None,
    ) -> bool:
        """A copy that `fill` writes; older ones make room, but not `beside`, the one that was used last.

        False when it is too big or there is no memory.
        """
        room = self.most_bytes - (beside.size_bytes if beside else 0)
        if not 0 < size_bytes <= room:
            return False
        self._drop(lambda state: self.usable(tokens, state.tokens) == len(state.tokens))
        while self._states and self.size_bytes + size_bytes > self.most_bytes:
            self._states.pop(0).free()
        try:
            state = KeptState(tokens, size_bytes)
        except OSError:
            return False
        if state.lend(fill) != size_bytes:
            state.free()
            return False
        self._states.append(state)
        return True

    def forget(self, state: KeptState) -> None:
        self._drop(lambda other: other is state)

    def _drop(self, is_useless: Callable[[KeptState], bool]) -> None:
        for state in [state for state in self._states if is_useless(state)]:
            self._states.remove(state)
            state.free()


def common(one: Sequence[int], other: Sequence[int]) -> int:
    """How many tokens they share from the beginning on."""
    for at, (left, right) in enumerate(zip(one, other, strict=False)):
        if left != right:
            return at
    return min(len(one), len(other))

"""What a GGUF file says at its beginning: enough to know that it is whole and what memory it will take."""

from __future__ import annotations

import mmap
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path

from uniun_bots.errors import ModelUnusable

MAGIC = b"GGUF"
VERSIONS = (2, 3)
ALIGNMENT = 32
_SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_STRING, _ARRAY = 8, 9
# ggml's tensor types: elements in a block and bytes of a block. The size of a type that is not here is unknown.
_BLOCKS = {
    0: (1, 4), 1: (1, 2), 2: (32, 18), 3: (32, 20), 6: (32, 22), 7: (32, 24), 8: (32, 34), 9: (32, 36),
    10: (256, 84), 11: (256, 110), 12: (256, 144), 13: (256, 176), 14: (256, 210), 15: (256, 292),
    16: (256, 66), 17: (256, 74), 18: (256, 98), 19: (256, 50), 20: (32, 18), 21: (256, 110), 22: (256, 82),
    23: (256, 136), 24: (1, 1), 25: (1, 2), 26: (1, 4), 27: (1, 8), 28: (1, 8), 29: (256, 56), 30: (1, 2),
    34: (256, 54), 35: (256, 66), 39: (32, 17),
}  # fmt: skip

Scalar = str | int | float | bool


@dataclass(frozen=True, slots=True)
class GgufHeader:
    facts: Mapping[str, Scalar]
    """The metadata but for lists."""
    whole_bytes: int
    """What the file must have for the last tensor to be in it."""

    def number(self, key: str) -> int | None:
        """A fact of the model's architecture, such as `block_count`."""
        value = self.facts.get(f"{self.facts.get('general.architecture')}.{key}")
        return value if isinstance(value, int) else None


def read_gguf(path: Path) -> GgufHeader:
    """Raises ModelUnusable for what is no GGUF file, or not all of one; OSError."""
    with path.open("rb") as file:
        size = path.stat().st_size
        if file.read(len(MAGIC)) != MAGIC:
            raise ModelUnusable(f"{path} is not a GGUF file")
        try:
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
                header = _Reader(data, path).header()
        except (struct.error, IndexError) as error:
            raise ModelUnusable(f"{path} is truncated: its header goes beyond its {size:,} bytes") from error
    if header.whole_bytes > size:
        raise ModelUnusable(
            f"{path} is truncated: it has {size:,} bytes of {header.whole_bytes:,}; download it again"
        )
    return header


class _Reader:
    def __init__(self, data: mmap.mmap, path: Path) -> None:
        self._data = data
        self._path = path
        self._at = len(MAGIC)

    def header(self) -> GgufHeader:
        if (version := self._number("I")) not in VERSIONS:
            raise ModelUnusable(f"{self._path} is a GGUF file of version {version}, which is unknown here")
        tensors, pairs = self._number("Q"), self._number("Q")
        facts = {}
        for _ in range(pairs):
            key, value = self._string(), self._value(self._number("I"))
            if value is not None:
                facts[key] = value
        end = max((self._tensor_end() for _ in range(tensors)), default=0)
        alignment = facts.get("general.alignment", ALIGNMENT)
        step = alignment if isinstance(alignment, int) and alignment > 0 else ALIGNMENT
        return GgufHeader(facts, -(-self._at // step) * step + end if tensors else self._at)

    def _tensor_end(self) -> int:
        """Counted from where the tensors begin."""
        self._string()
        dimensions = self._unpack(f"{min(self._number('I'), 64)}Q")
        kind, offset = self._number("I"), self._number("Q")
        elements, size = _BLOCKS.get(kind, (1, 0))
        return offset + prod(dimensions) // elements * size

    def _value(self, kind: int) -> Scalar | None:
        if kind == _STRING:
            return self._string()
        if kind == _ARRAY:
            self._skip_array()
            return None
        if kind not in _SCALARS:
            raise ModelUnusable(f"{self._path} has metadata of type {kind}, which is unknown here")
        value: Scalar = self._unpack(_SCALARS[kind])[0]
        return value

    def _skip_array(self) -> None:
        kind, count = self._number("I"), self._number("Q")
        if kind in _SCALARS:
            self._skip(count * struct.calcsize(_SCALARS[kind]))
        elif kind == _STRING:
            self._skip_strings(count)
        else:
            raise ModelUnusable(f"{self._path} has a list of type {kind}, which is unknown here")

    def _skip_strings(self, count: int) -> None:
        """Vocabularies have hundreds of thousands."""
        data, at, size_of = self._data, self._at, struct.Struct("<Q").unpack_from
        for _ in range(count):
            at += 8 + size_of(data, at)[0]
            if at > len(data):
                raise IndexError
        self._at = at

    def _string(self) -> str:
        start = self._at + 8
        self._skip(self._number("Q"))
        return self._data[start : self._at].decode(errors="replace")

    def _skip(self, count: int) -> None:
        self._at += count
        if self._at > len(self._data):
            raise IndexError

    def _number(self, form: str) -> int:
        return int(self._unpack(form)[0])

    def _unpack(self, form: str) -> tuple[int, ...]:
        values = struct.unpack_from(f"<{form}", self._data, self._at)
        self._at += struct.calcsize(f"<{form}")
        return values

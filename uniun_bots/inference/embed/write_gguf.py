"""Write a GGUF file: settings, a table of tensors, and their bytes, each from a place in another file."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

VERSION = 3
ALIGNMENT = 32
F32 = 0


@dataclass(frozen=True, slots=True)
class Value:
    kind: int
    data: bytes

    @staticmethod
    def whole(number: int) -> Value:
        return Value(4, struct.pack("<I", number))

    @staticmethod
    def real(number: float) -> Value:
        return Value(6, struct.pack("<f", number))

    @staticmethod
    def flag(on: bool) -> Value:
        return Value(7, struct.pack("<?", on))

    @staticmethod
    def text(text: str) -> Value:
        return Value(8, _text(text))

    @staticmethod
    def wholes(numbers: Sequence[int]) -> Value:
        return Value(9, struct.pack(f"<IQ{len(numbers)}i", 5, len(numbers), *numbers))

    @staticmethod
    def texts(texts: Sequence[str]) -> Value:
        return Value(9, struct.pack("<IQ", 8, len(texts)) + b"".join(map(_text, texts)))


@dataclass(frozen=True, slots=True)
class Tensor:
    """32-bit numbers that lie in `source`."""

    name: str
    shape: tuple[int, ...]
    source: Path
    start: int
    size: int


def write_gguf(target: Path, settings: Mapping[str, Value], tensors: Sequence[Tensor]) -> None:
    head = b"GGUF" + struct.pack("<IQQ", VERSION, len(tensors), len(settings))
    head += b"".join(
        _text(key) + struct.pack("<I", value.kind) + value.data for key, value in settings.items()
    )
    offset = 0
    for tensor in tensors:
        shape = tuple(reversed(tensor.shape))
        head += _text(tensor.name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, F32, offset)
        offset += tensor.size + _gap(tensor.size)
    with target.open("wb") as file:
        file.write(head + bytes(_gap(len(head))))
        for tensor in tensors:
            with tensor.source.open("rb") as source:
                source.seek(tensor.start)
                file.write(source.read(tensor.size) + bytes(_gap(tensor.size)))


def _text(text: str) -> bytes:
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def _gap(size: int) -> int:
    return -size % ALIGNMENT

"""GGUF files made by hand."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from math import prod

U32, I32, F32, BOOL, STRING, ARRAY, U64 = 4, 5, 6, 7, 8, 9, 10
Value = tuple[int, bytes]
"""A type of metadata and the bytes of the value."""


def string(text: str) -> bytes:
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def text(value: str) -> Value:
    return STRING, string(value)


def number(value: int) -> Value:
    return U32, struct.pack("<I", value)


def strings(*values: str) -> Value:
    return ARRAY, struct.pack("<IQ", STRING, len(values)) + b"".join(map(string, values))


def numbers(*values: int) -> Value:
    return ARRAY, struct.pack(f"<IQ{len(values)}i", I32, len(values), *values)


def gguf(
    facts: Mapping[str, Value] | None = None,
    shapes: Sequence[tuple[int, ...]] = ((8, 4),),
    *,
    data: bool = True,
) -> bytes:
    """Tensors are 32 bit floats, all zero; without `data` only their table is there."""
    pairs = b"".join(
        string(key) + struct.pack("<I", kind) + value for key, (kind, value) in (facts or {}).items()
    )
    tensors, offset = b"", 0
    for n, shape in enumerate(shapes):
        tensors += string(f"tensor.{n}") + struct.pack(f"<I{len(shape)}Q", len(shape), *shape)
        tensors += struct.pack("<IQ", 0, offset)
        offset += -(-prod(shape) * 4 // 32) * 32
    header = b"GGUF" + struct.pack("<IQQ", 3, len(shapes), len(facts or {})) + pairs + tensors
    header += bytes(-len(header) % 32 if shapes else 0)
    if not data or not shapes:
        return header
    last = prod(shapes[-1]) * 4
    return header + bytes(offset - -(-last // 32) * 32 + last)

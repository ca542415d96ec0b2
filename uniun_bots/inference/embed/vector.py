"""A vector as it is kept: one signed byte a number, scaled to the largest, since cosine knows no length."""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence

from uniun_bots.errors import VectorRefused

TOP = 127
SMALLEST = 1e-30


def pack(numbers: Sequence[float]) -> bytes:
    """Raises VectorRefused for what has no direction: NaN, infinity, nothing but zeros."""
    if not numbers or not all(map(math.isfinite, numbers)):
        raise VectorRefused("a vector of numbers that are none")
    largest = max(map(abs, numbers))
    if largest < SMALLEST:
        raise VectorRefused("a vector of zeros")
    scale = TOP / largest
    return array("b", [round(number * scale) for number in numbers]).tobytes()


def pack_or_none(numbers: Sequence[float]) -> bytes | None:
    try:
        return pack(numbers)
    except VectorRefused:
        return None


def cosine(one: bytes, other: bytes) -> float:
    """Of two packed vectors; 0 when their widths differ. For a few of them: an index does many."""
    first, second = array("b", one), array("b", other)
    if len(first) != len(second):
        return 0.0
    dot = sum(a * b for a, b in zip(first, second, strict=True))
    lengths = math.sqrt(sum(a * a for a in first) * sum(b * b for b in second))
    return dot / lengths if lengths else 0.0

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uniun_bots.errors import VectorRefused
from uniun_bots.inference.embed.vector import cosine, pack, pack_or_none

numbers = st.lists(st.floats(-10, 10), min_size=8, max_size=32).filter(lambda row: max(map(abs, row)) > 1e-3)


@pytest.mark.parametrize(
    "bad",
    [[], [0.0, 0.0], [1e-40, 0.0], [1.0, math.nan], [math.inf, 1.0], [-math.inf, 0.0]],
    ids=str,
)
def test_what_points_nowhere_is_refused(bad: list[float]) -> None:
    with pytest.raises(VectorRefused):
        pack(bad)
    assert pack_or_none(bad) is None


@given(numbers)
def test_a_packed_vector_points_where_the_numbers_do(row: list[float]) -> None:
    packed = pack(row)
    back = [byte - 256 if byte > 127 else byte for byte in packed]
    dot = sum(a * b for a, b in zip(row, back, strict=True))
    assert dot / math.hypot(*row) / math.hypot(*back) > 0.99


@given(numbers, st.floats(0.01, 100))
def test_the_length_of_a_vector_means_nothing(row: list[float], factor: float) -> None:
    assert cosine(pack(row), pack([number * factor for number in row])) > 0.9999


def test_vectors_of_two_widths_are_not_near() -> None:
    assert cosine(pack([1.0, 2.0]), pack([1.0, 2.0, 3.0])) == 0.0

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from uniun_bots.inference.policy.ordered import SPARE, Ordered

MOVES = st.lists(st.tuples(st.sampled_from(["put", "put", "discard"]), st.integers(0, 9), st.integers(0, 5)))


@given(MOVES)
def test_the_first_is_the_one_with_the_smallest_key(moves: list[tuple[str, int, int]]) -> None:
    ordered: Ordered[int] = Ordered()
    keys: dict[int, tuple[float, int]] = {}
    for what, item, key in moves:
        if what == "put":
            keys[item] = (key, item)
            ordered.put(item, keys[item])
        else:
            keys.pop(item, None)
            ordered.discard(item)
        expected = min(((key, item) for item, key in keys.items()), default=None)
        assert ordered.first() == expected
        assert len(ordered) == len(keys)
        assert set(ordered) == set(keys)


def test_what_was_taken_out_does_not_pile_up_behind_the_first() -> None:
    ordered: Ordered[int] = Ordered()
    ordered.put(-1, (0.0, 0))
    for item in range(10_000):
        ordered.put(item, (1.0, item))
        ordered.discard(item)
    assert len(ordered._heap) <= 2 + SPARE + 1
    assert ordered.first() == ((0.0, 0), -1)

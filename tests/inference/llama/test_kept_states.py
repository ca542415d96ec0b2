"""Which states are kept and which is found, beside a second implementation that is slow and simple."""

from __future__ import annotations

import ctypes
import mmap
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uniun_bots.inference.llama.kept_states import KeptStates, common


def keep(kept: KeptStates, tokens: list[int], size: int = 10) -> bool:
    """Fills the copy with the first token."""

    def fill(data: Any) -> int:
        ctypes.memset(data, tokens[0], size)
        return size

    return kept.keep(tokens, size, fill)


def all_tokens(kept: KeptStates) -> list[list[int]]:
    return [list(state.tokens) for state in kept._states]


def test_the_longest_common_beginning_wins() -> None:
    kept = KeptStates(100)
    for tokens in ([1, 2, 9], [1, 2, 3, 9], [2, 2, 3, 4]):
        assert keep(kept, tokens)
    state, shared = kept.closest([1, 2, 3, 4])
    assert state is not None
    assert (list(state.tokens), shared) == ([1, 2, 3, 9], 3)
    assert kept.closest([7]) == (None, 0)


def test_a_model_that_cannot_go_back_is_given_whole_states_only() -> None:
    kept = KeptStates(100)
    kept.whole_only = True
    keep(kept, [1, 2])
    keep(kept, [1, 2, 3, 9])
    state, shared = kept.closest([1, 2, 3, 4])
    assert state is not None
    assert (list(state.tokens), shared) == ([1, 2], 2)


def test_a_copy_holds_the_bytes_that_were_put_into_it() -> None:
    kept = KeptStates(100)
    keep(kept, [7, 8])
    state, _ = kept.closest([7])
    assert state is not None
    seen = []
    state.lend(lambda data: seen.append(bytes(data)) or 0)  # type: ignore[call-overload, func-returns-value]
    assert seen == [b"\x07" * 10]


def test_the_least_recently_used_one_makes_room() -> None:
    kept = KeptStates(30)
    for first in (1, 2, 3):
        keep(kept, [first])
    oldest, _ = kept.closest([1])
    assert oldest is not None
    kept.touch(oldest)
    keep(kept, [4], 15)
    assert all_tokens(kept) == [[1], [4]]
    assert kept.size_bytes == 25


def test_what_alone_is_too_big_is_not_kept_and_pushes_nobody_out() -> None:
    kept = KeptStates(30)
    keep(kept, [1])
    assert not keep(kept, [2], 31)
    assert not KeptStates(0).keep([1], 1, lambda _: 1)
    assert all_tokens(kept) == [[1]]


def test_the_one_that_is_about_to_come_back_makes_no_room() -> None:
    kept = KeptStates(30)
    for first in (1, 2, 3):
        keep(kept, [first])
    wanted, _ = kept.closest([1])
    assert wanted is not None
    kept.touch(wanted)
    assert not kept.keep([4], 21, lambda _: 21, beside=wanted)
    assert all_tokens(kept) == [[2], [3], [1]]
    assert kept.keep([4], 20, lambda _: 20, beside=wanted)
    assert all_tokens(kept) == [[1], [4]]


def test_a_longer_state_takes_the_place_of_its_own_beginning() -> None:
    kept = KeptStates(100)
    keep(kept, [1, 2])
    keep(kept, [1, 3])
    keep(kept, [1, 2, 3])
    assert all_tokens(kept) == [[1, 3], [1, 2, 3]]
    assert kept.covers([1, 2])
    assert not kept.covers([1, 2, 3, 4])


def test_a_copy_that_was_not_filled_is_no_copy() -> None:
    kept = KeptStates(100)
    assert not kept.keep([1], 10, lambda _: 9)
    assert len(kept) == kept.size_bytes == 0


def test_without_memory_nothing_is_kept_and_nothing_breaks(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = KeptStates(100)

    def none_left(*_: object, **__: object) -> None:
        raise OSError("Cannot allocate memory")

    monkeypatch.setattr(mmap, "mmap", none_left)
    assert not keep(kept, [1])
    assert len(kept) == 0


_TOKENS = st.lists(st.integers(0, 2), min_size=1, max_size=5)


@given(st.lists(st.tuples(_TOKENS, st.integers(1, 12)), max_size=12), _TOKENS, st.booleans())
def test_it_keeps_and_finds_what_a_simple_list_would(
    stored: list[tuple[list[int], int]], wanted: list[int], whole: bool
) -> None:
    kept, simple = KeptStates(30), list[tuple[list[int], int]]()
    kept.whole_only = whole
    for tokens, size in stored:
        keep(kept, tokens, size)
        useless = [old for old, _ in simple if old == tokens or (tokens[: len(old)] == old and not whole)]
        simple = [(old, bytes_) for old, bytes_ in simple if old not in useless]
        while sum(bytes_ for _, bytes_ in simple) + size > 30:
            del simple[0]
        simple.append((tokens, size))
        assert all_tokens(kept) == [old for old, _ in simple]
        assert kept.size_bytes == sum(bytes_ for _, bytes_ in simple) <= 30
    lengths = [
        max(n for n in range(6) if tokens[:n] == wanted[:n] and n <= min(len(tokens), len(wanted)))
        for tokens, _ in simple
    ]
    fitting = [n for n, (tokens, _) in zip(lengths, simple, strict=True) if not whole or n == len(tokens)]
    assert kept.closest(wanted)[1] == max(fitting, default=0)


@given(_TOKENS, _TOKENS)
def test_common_is_the_length_of_the_shared_beginning(one: list[int], other: list[int]) -> None:
    shared = common(one, other)
    assert one[:shared] == other[:shared]
    assert one[: shared + 1] != other[: shared + 1] or one == other

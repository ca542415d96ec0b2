from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from uniun_bots.inference.policy.extract_budget import ExtractBudget
from uniun_bots.inference.policy.rules import Rules

RULES = Rules(extract_share=0.5, extract_window_s=20, extract_slice_s=2.0)
STRETCHES = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), max_size=30)


def spent(stretches: list[tuple[int, int]]) -> tuple[ExtractBudget, float]:
    """A budget after some (idle, busy) stretches in eighths of a second, and the time then."""
    budget, now = ExtractBudget(RULES), 100.0
    for idle, busy in stretches:
        now += idle / 8
        budget.spend(now, now + busy / 8)
        now += busy / 8
    return budget, now


@given(STRETCHES)
def test_it_counts_what_was_spent_in_the_window(stretches: list[tuple[int, int]]) -> None:
    budget, now = spent(stretches)
    used, at = 0.0, 100.0
    for idle, busy in stretches:
        since, at = at + idle / 8, at + idle / 8 + busy / 8
        used += max(0.0, at - max(since, now // 1 - 20))
    assert budget.used(now) == used


@given(STRETCHES)
def test_it_says_when_it_will_be_spent_and_when_it_will_be_free(stretches: list[tuple[int, int]]) -> None:
    budget, now = spent(stretches)
    if budget.allows(now, 1):
        at = budget.spent_at(now, 1, 1)
        just_before = max(now, at - 0.01)
        budget.spend(now, just_before)
        assert budget.allows(just_before, 1)
        budget.spend(just_before, at)
        assert not budget.allows(at, 1)
        now = at
    free = budget.free_at(1)
    assert not budget.allows(free - 0.01, 1)
    assert budget.allows(free, 1)
    assert budget.used(free) <= budget.limit(1) - RULES.extract_slice_s + 1e-6

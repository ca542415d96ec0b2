"""Extraction's share of a rolling window."""

from __future__ import annotations

from collections import deque

from uniun_bots.inference.policy.rules import HAIR, Rules


class ExtractBudget:
    """Engine seconds by whole second; the window ends now and starts at a whole second, never late."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._buckets: deque[tuple[int, float]] = deque()
        self._used = 0.0
        self._spent = False

    def limit(self, slots: int) -> float:
        return self._rules.extract_share * self._rules.extract_window_s * slots

    def used(self, now: float) -> float:
        while self._buckets and self._drops_at(self._buckets[0][0]) <= now:
            self._used -= self._buckets.popleft()[1]
        if not self._buckets:
            self._used = 0.0
        return self._used

    def spend(self, since: float, until: float) -> None:
        since = max(since, until // 1 - self._rules.extract_window_s)
        while since < until:
            second = int(since // 1)
            upto = min(until, second + 1.0)
            self._add(second, upto - since)
            since = upto

    def allows(self, now: float, slots: int) -> bool:
        """Once it is spent it stays so until a whole slice is free: no flicker at the edge."""
        used, limit = self.used(now), self.limit(slots)
        if used >= limit - HAIR:
            self._spent = True
        elif used <= limit - self._rules.extract_slice_s + HAIR:
            self._spent = False
        return not self._spent

    def free_at(self, slots: int) -> float:
        """When a whole slice is free, if no extraction runs until then."""
        too_many = self._used - (self.limit(slots) - self._rules.extract_slice_s)
        for second, seconds in self._buckets:
            too_many -= seconds
            if too_many <= HAIR:
                return self._drops_at(second)
        return float("inf")

    def spent_at(self, now: float, slots: int, running: int) -> float:
        """When it is spent, if so many extractions run on from now."""
        left, at = self.limit(slots) - self._used, now
        for second, seconds in self._buckets:
            drop = self._drops_at(second)
            if left <= running * (drop - at):
                break
            left += seconds - running * (drop - at)
            at = drop
        return at + left / running

    def _add(self, second: int, seconds: float) -> None:
        self._used += seconds
        if self._buckets and self._buckets[-1][0] == second:
            seconds += self._buckets.pop()[1]
        self._buckets.append((second, seconds))

    def _drops_at(self, second: int) -> float:
        return second + self._rules.extract_window_s + 1.0

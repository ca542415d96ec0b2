"""Extraction's share of a rolling window."""

from __future__ import annotations

from uniun_bots.inference.policy.rules import HAIR, Rules


class ExtractBudget:
    """Engine seconds by whole second, oldest first; the window ends now and starts at a whole second.

    Jobs that run side by side are told one after the other, each from where the last telling ended.
    """

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._seconds: dict[int, float] = {}
        self._used = 0.0
        self._spent = False

    def limit(self, slots: int) -> float:
        return self._rules.extract_share * self._rules.extract_window_s * slots

    def used(self, now: float) -> float:
        while self._seconds and self._drops_at(oldest := next(iter(self._seconds))) <= now:
            self._used -= self._seconds.pop(oldest)
        if not self._seconds:
            self._used = 0.0
        return self._used

    def spend(self, since: float, until: float) -> None:
        since = max(since, until // 1 - self._rules.extract_window_s)
        while since < until:
            second = int(since // 1)
            upto = min(until, second + 1.0)
            self._seconds[second] = self._seconds.get(second, 0.0) + upto - since
            self._used += upto - since
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
        for second, seconds in self._seconds.items():
            too_many -= seconds
            if too_many <= HAIR:
                return self._drops_at(second)
        return float("inf")

    def spent_at(self, now: float, slots: int, running: int) -> float:
        """When it is spent, if so many extractions run on from now."""
        left, at = self.limit(slots) - self._used, now
        for second, seconds in self._seconds.items():
            drop = self._drops_at(second)
            if left < running * (drop - at):
                break
            left += seconds - running * (drop - at)
            at = drop
        return at + left / running

    def _drops_at(self, second: int) -> float:
        return second + self._rules.extract_window_s + 1.0

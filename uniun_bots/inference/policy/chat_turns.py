"""Whether somebody is being answered in a chat right now, or was a moment ago."""

from __future__ import annotations


class ChatTurns:
    def __init__(self, quiet_s: float) -> None:
        self._quiet_s = quiet_s
        self.open = 0
        self.quiet_until = float("-inf")

    def begin(self) -> None:
        self.open += 1

    def end(self, now: float) -> None:
        self.open -= 1
        self.quiet_until = max(self.quiet_until, now + self._quiet_s)

    def hold_back(self, now: float) -> bool:
        """Whether background work has to wait."""
        return self.open > 0 or now < self.quiet_until

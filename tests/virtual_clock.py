"""The clock of tests, at the time of the factory."""

from __future__ import annotations

from tests.factory import NOW
from uniun_bots import clock


class VirtualClock(clock.VirtualClock):
    def __init__(self, now: float = NOW) -> None:
        super().__init__(now)

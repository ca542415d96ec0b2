"""The time that the jobs of one run may take of an engine."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from uniun_bots.clock import monotonic
from uniun_bots.errors import JobOverdue

T = TypeVar("T")


class Allowance:
    """Counts while a job runs, over all jobs and all tries. Standing in the queue costs nothing, so that a long
    queue is no reason to fail; nor does loading the model."""

    def __init__(self, seconds: float) -> None:
        self.seconds = self.left_s = seconds

    async def spend(self, work: Coroutine[Any, Any, T], whose: str) -> T:
        """Raises JobOverdue when it is used up; the work is stopped."""
        began = monotonic()
        try:
            async with asyncio.timeout(self.left_s) as limit:
                return await work
        except TimeoutError as over:
            if not limit.expired():
                raise
            raise JobOverdue(f"{whose} had the engine for {self.seconds:g} s without an end") from over
        finally:
            self.left_s -= monotonic() - began

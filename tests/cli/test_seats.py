"""The scheduler's state as `status` tells it to people."""

from __future__ import annotations

import asyncio
import json

from tests.inference.test_seat import Changeable, ask, job
from tests.virtual_clock import VirtualClock
from uniun_bots.cli.seats import seat_lines
from uniun_bots.inference.scheduler import Scheduler


def told(scheduler: Scheduler) -> list[str]:
    [seat] = json.loads(json.dumps(scheduler.snapshot()))["seats"]
    return seat_lines(seat)


async def test_a_seat_that_nobody_used_has_one_line() -> None:
    clock = VirtualClock()
    async with Scheduler({"default": Changeable(clock)}, clock=clock) as scheduler:
        assert told(scheduler) == ["seat shared: no model loaded, running nothing, waiting nobody"]


async def test_who_runs_who_waits_who_had_how_much_and_who_gave_way_is_told() -> None:
    clock = VirtualClock()
    async with Scheduler({"default": Changeable(clock)}, clock=clock) as scheduler:
        tasks = ask(scheduler, job("tide 10"), job("tide 10"), job("gull 10"))
        await clock.advance(12)
        [chat] = ask(scheduler, job("shiv 5", "chat"))
        await clock.advance(1)
        first, held, shares, gave_way = told(scheduler)
        assert first == "seat shared: default loaded, running shiv (chat), waiting 2 pool"
        assert held == "background work waits for a chat"
        assert shares == "had the engine: tide 10 s (8 s ahead), gull 2 s"
        assert gave_way.startswith("gave way 1 times, the last one gull 20")
        assert gave_way.endswith("somebody chats")
        await clock.advance(60)
        await asyncio.gather(*tasks, chat)

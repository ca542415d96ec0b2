"""The whole product on one page: four loops, each ending in one commit, each starting from rows.

A crash anywhere is a restart from rows. This page holds the order of the steps and nothing else; what a step
does lives in its room, and docs/flow.md has the table.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from uniun_bots import failpoints
from uniun_bots.context.context import Context
from uniun_bots.inputs.turn import Turn
from uniun_bots.publishing.pinned import Post
from uniun_bots.relays.heard import Heard
from uniun_bots.runs.outcome import Outcome
from uniun_bots.triggers.wakeup import Wakeup


class House(Protocol):
    """The steps, each done by the room named beside it."""

    async def hear(self) -> Sequence[Heard]: ...  # relays
    async def keep(self, heard: Sequence[Heard]) -> None: ...  # graph
    async def match(self) -> None: ...  # triggers
    def take(self, wakeup: Wakeup) -> AbstractAsyncContextManager[Turn | None]: ...  # inputs
    async def gather(self, turn: Turn) -> Context: ...  # context
    async def run(self, context: Context) -> Outcome: ...  # runs
    async def pin(self, turn: Turn, outcome: Outcome) -> Post | None: ...  # publishing
    async def close(self, turn: Turn, outcome: Outcome, pinned: Post | None) -> None: ...  # journal
    async def send(self, relay: str) -> int: ...  # publishing


async def receive(house: House) -> None:
    heard = await house.hear()
    failpoints.hit("heard")
    await house.keep(heard)
    failpoints.hit("kept")


async def wake(house: House) -> None:
    await house.match()
    failpoints.hit("woke")


async def answer(house: House, wakeup: Wakeup) -> None:
    async with house.take(wakeup) as turn:
        if turn is None:
            return
        failpoints.hit("taken")
        context = await house.gather(turn)
        failpoints.hit("gathered")
        outcome = await house.run(context)
        failpoints.hit("ran")
        pinned = await house.pin(turn, outcome)
        failpoints.hit("pinned")
        await house.close(turn, outcome, pinned)
        failpoints.hit("closed")


async def deliver(house: House, relay: str) -> int:
    return await house.send(relay)

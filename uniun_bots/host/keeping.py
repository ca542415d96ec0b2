"""Keeping what was heard, whatever the store or a single event does."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence

from uniun_bots.errors import StoreError
from uniun_bots.relays.heard import Heard

log = logging.getLogger("uniun_bots.flow")

FIRST_PAUSE_S = 0.5
MOST_PAUSE_S = 30.0


async def keep_until_kept(
    heard: Sequence[Heard],
    keep: Callable[[Sequence[Heard]], Awaitable[None]],
    refuse: Callable[[Heard, Exception], None],
) -> None:
    """The SDK hands each event out once, so a batch that did not commit is tried until it does.

    A batch that breaks on one of its events is kept event by event, and that one is refused.
    """
    pause_s = FIRST_PAUSE_S
    while True:
        try:
            await keep(heard)
            return
        except StoreError as fault:
            log.error("keep: %d events wait for the store: %s", len(heard), fault)
            await asyncio.sleep(pause_s)
            pause_s = min(MOST_PAUSE_S, pause_s * 2)
        except Exception as fault:
            if len(heard) == 1:
                refuse(heard[0], fault)
                return
            for one in heard:
                await keep_until_kept([one], keep, refuse)
            return

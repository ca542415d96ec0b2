from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from nostr_sdk import Event as SdkEvent
from nostr_sdk import EventBuilder, Keys, Kind, Tag, Timestamp

from uniun_bots.relays.gateway import Gateway
from uniun_bots.relays.heard import Heard
from uniun_bots.relays.local import LocalRelay


@pytest.fixture
async def relay() -> AsyncIterator[LocalRelay]:
    async with LocalRelay() as running:
        yield running


@pytest.fixture
def keys() -> Keys:
    return Keys.generate()


def note(
    keys: Keys, text: str, kind: int = 1, at: int | None = None, tags: list[list[str]] | None = None
) -> SdkEvent:
    builder = EventBuilder(Kind(kind), text).tags([Tag.parse(tag) for tag in tags or []])
    if at is not None:
        builder = builder.custom_created_at(Timestamp.from_secs(at))
    return builder.finalize(keys)


def raw(event: SdkEvent) -> bytes:
    text: str = event.as_json()
    return text.encode()


async def hear(gateway: Gateway, count: int, within_s: float = 20.0) -> list[Heard]:
    """The next `count` events; fails when they do not come, and when more come in the last batch."""
    found: list[Heard] = []
    async with asyncio.timeout(within_s):
        while len(found) < count:
            found += await gateway.hear()
    assert len(found) == count
    return found


async def until(check: Callable[[], Any], within_s: float = 20.0) -> None:
    """Wait for a condition that has no event of its own."""
    async with asyncio.timeout(within_s):
        while not check():
            await asyncio.sleep(0.01)

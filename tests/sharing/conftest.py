from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.sharing.town import Town, town_with
from tests.stores import store as store


@pytest.fixture
async def town() -> AsyncIterator[Town]:
    """One relay."""
    async with town_with(1) as opened:
        yield opened


@pytest.fixture
async def two_relays() -> AsyncIterator[Town]:
    async with town_with(2) as opened:
        yield opened

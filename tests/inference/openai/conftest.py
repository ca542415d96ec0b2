from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.inference.openai.stand_in import StandIn, stand_in


@pytest.fixture
async def server() -> AsyncIterator[StandIn]:
    async with stand_in() as opened:
        yield opened

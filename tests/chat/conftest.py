from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.chat.scenes import MakeChat
from tests.stores import store as store
from uniun_bots.database.store import Store


@pytest.fixture
async def chat(store: Store) -> AsyncIterator[MakeChat]:
    make = MakeChat(store)
    yield make
    for made in make.made:
        await made.scheduler.aclose()

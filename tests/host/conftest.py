from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from blockbuster import blockbuster_ctx

from tests.host.stage import Stage, open_stage

ONCE = (
    ("uniun_bots/host/lease.py", {"lease"}),
    ("uniun_bots/host/control/server.py", {"__aenter__", "__aexit__"}),
    ("uniun_bots/host/control/ask.py", {"socket_path", "control_socket"}),
    ("uniun_bots/host/control/snapshot.py", {"snapshot"}),
)
"""A few words with the file system when a host opens and closes, or is asked how it does."""


@pytest.fixture(autouse=True)
def nothing_blocks() -> Iterator[None]:
    """A call in our code that holds up the event loop is an error."""
    with blockbuster_ctx("uniun_bots") as watch:
        for function in watch.functions.values():
            for file, names in ONCE:
                function.can_block_in(file, names)
        yield


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    async with open_stage(tmp_path / "bots") as opened:
        yield opened

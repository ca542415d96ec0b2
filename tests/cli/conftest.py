from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.host.stage import Stage, open_stage


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    async with open_stage(tmp_path / "bots") as opened:
        yield opened

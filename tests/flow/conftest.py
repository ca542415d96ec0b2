from __future__ import annotations

import os
import random
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from tests.flow.storm import Storm, brewing

Tell = Callable[..., None]


@pytest.fixture
def seed() -> int:
    """UNIUN_BOTS_SEED, or another one each time."""
    return int(os.environ.get("UNIUN_BOTS_SEED") or random.randrange(1_000_000))


@pytest.fixture
def tell(capfd: pytest.CaptureFixture[str]) -> Tell:
    """Says it on the terminal, whatever is captured."""

    def say(*lines: str) -> None:
        with capfd.disabled():
            os.write(1, "".join(f"\n    {line}" for line in lines).encode() + b"\n")

    return say


@pytest.fixture
async def storm(tmp_path: Path, seed: int) -> AsyncIterator[Storm]:
    """One relay, and a proxy between it and the host."""
    async with brewing(tmp_path, seed, relays=1) as opened:
        yield opened


@pytest.fixture
async def two(tmp_path: Path, seed: int) -> AsyncIterator[Storm]:
    """Two relays, each behind a proxy of its own."""
    async with brewing(tmp_path, seed, relays=2) as opened:
        yield opened


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is refused is sent again after moments, instead of seconds and minutes."""
    for room in ("deliver", "outbox"):
        monkeypatch.setattr(f"uniun_bots.publishing.{room}.FIRST_RETRY_S", 0.02)

"""The pytest plugin: the fixture that puts a persona of your project on stage."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Protocol

import pytest
import pytest_asyncio

from uniun_bots.testing.on_stage import Persona, on_stage


class OpenPersona(Protocol):
    """`await persona("tide-teller", says=["At noon."])`"""

    def __call__(self, name: str, /, *, says: Sequence[str] = ()) -> Awaitable[Persona]: ...


@pytest.fixture
def persona_project(request: pytest.FixtureRequest) -> Path:
    """The folder that has personas/: where pytest has its root, unless your conftest.py says otherwise."""
    return request.config.rootpath


@pytest_asyncio.fixture
async def persona(persona_project: Path, tmp_path: Path) -> AsyncIterator[OpenPersona]:
    """Puts a persona of your project on a stage of its own: a local relay, a scripted model, a virtual clock."""
    async with AsyncExitStack() as stack:

        async def put_on(name: str, /, *, says: Sequence[str] = ()) -> Persona:
            return await stack.enter_async_context(on_stage(persona_project, name, tmp_path / name, says))

        yield put_on

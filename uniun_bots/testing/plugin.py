"""The pytest plugin: where the project is, and the fixture that puts a persona of it on stage."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Protocol

import pytest
import pytest_asyncio

from uniun_bots.testing.on_stage import Persona, on_stage

INI = "uniun_bots_project"


class OpenPersona(Protocol):
    """`await persona("tide-teller", says=["At noon."])`"""

    def __call__(self, name: str, /, *, says: Sequence[str] = ()) -> Awaitable[Persona]: ...


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addini(INI, "The project folder with personas/, from where pytest has its root.", default=".")


@pytest_asyncio.fixture
async def persona(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[OpenPersona]:
    """Puts a persona of your project on a stage of its own: a local relay, a scripted model, a virtual clock."""
    folder = request.config.rootpath / str(request.config.getini(INI))
    async with AsyncExitStack() as stack:

        async def put_on(name: str, /, *, says: Sequence[str] = ()) -> Persona:
            data_dir = tmp_path / f"stage-of-{name}"
            return await stack.enter_async_context(on_stage(folder, name, data_dir, says))

        yield put_on

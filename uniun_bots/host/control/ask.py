"""One request to the host that runs on a data folder, over its control socket.

What a command imports that only asks is small: aiohttp comes with the first question.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

from uniun_bots.clock import monotonic
from uniun_bots.errors import NoHost, UniunError
from uniun_bots.host.lease import holder

T = TypeVar("T")

NOTE = "control.path"
STARTING_S = 20.0
ANSWER_S = 300.0


def socket_path(data_dir: Path) -> Path:
    base = os.environ.get("XDG_RUNTIME_DIR") or tempfile.gettempdir()
    folder = Path(base) / f"uniun-bots-{os.getuid()}"
    name = hashlib.sha256(str(data_dir.resolve()).encode()).hexdigest()[:16]
    return folder / f"{name}.sock"


def control_socket(data_dir: Path) -> Path:
    """Where the host of this data folder listens. Raises NoHost when there is none."""
    socket = socket_path(data_dir)
    if (data_dir / NOTE).exists():
        socket = Path((data_dir / NOTE).read_text())
    if not socket.exists():
        raise NoHost(f"no host runs on {data_dir}: start one with `uniun-bots run`")
    return socket


async def once_it_is_up(data_dir: Path, ask: Callable[[], Awaitable[T]]) -> T:
    """A host that is starting holds the lease before it can be spoken to, and is waited for. Raises NoHost."""
    patience_until = monotonic() + STARTING_S
    while True:
        try:
            return await ask()
        except NoHost:
            if monotonic() > patience_until or holder(data_dir) is None:
                raise
        await asyncio.sleep(0.1)


async def ask_host(
    data_dir: Path,
    method: str,
    path: str,
    asked: dict[str, Any] | None = None,
    patience_s: float | None = ANSWER_S,
) -> Any:
    """One request to the host that runs on this data folder. Raises NoHost, and UniunError with its answer."""
    return await once_it_is_up(data_dir, lambda: _ask(data_dir, method, path, asked, patience_s))


async def _ask(
    data_dir: Path, method: str, path: str, asked: dict[str, Any] | None, patience_s: float | None
) -> Any:
    import aiohttp

    socket = control_socket(data_dir)
    try:
        async with (
            aiohttp.ClientSession(connector=aiohttp.UnixConnector(path=str(socket))) as session,
            session.request(
                method, f"http://host{path}", json=asked, timeout=aiohttp.ClientTimeout(patience_s)
            ) as response,
        ):
            answer = await response.json(content_type=None)
    except aiohttp.ClientConnectionError as fault:
        raise NoHost(f"no host answers on {socket}: {fault}") from fault
    except ValueError as fault:
        raise UniunError(f"the host answered {path} with {response.status}: its log tells why") from fault
    if response.status >= 400:
        raise UniunError(answer["error"])
    return answer

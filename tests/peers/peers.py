"""Where other people's software is, and how it is started."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from uniun_bots.relays.local import free_port

HERE = Path(__file__).parent
RELAY_ENV = "UNIUN_BOTS_PEER_RELAY"
"""The `nostr-relay` to use instead of the one that `make test` installs."""
START_S = 30.0

RELAY_CONFIG = """\
DEBUG: false
relay_name: peer
storage:
  sqlalchemy.url: sqlite+aiosqlite:///{folder}/peer.sqlite3
  validators:
    - nostr_relay.validators.is_not_too_large
    - nostr_relay.validators.is_signed
    - nostr_relay.validators.is_recent
    - nostr_relay.validators.is_not_hellthread
verification:
  nip05_verification: disabled
authentication:
  enabled: false
gunicorn:
  bind: 127.0.0.1:{port}
  workers: 1
  loglevel: warning
  reload: false
"""


def node() -> str:
    found = shutil.which("node")
    if found is None:
        pytest.skip("node is not here")
    if not (HERE / "node_modules" / "nostr-tools").is_dir():
        pytest.skip("nostr-tools is not here: run `npm ci --prefix tests/peers`")
    return found


def browser() -> str:
    """The node that drives it."""
    found = node()
    if (sys.platform, platform.machine()) != ("linux", "x86_64"):
        pytest.skip("the package has a browser for Linux on x86-64 only")
    if not (HERE / "node_modules" / "@sparticuz" / "chromium").is_dir():
        pytest.skip("chromium is not here: run `npm ci --prefix tests/peers`")
    return found


async def look_at(page: Path, *steps: object) -> Any:
    """What a real browser meets on the page: requests, errors, dialogs, and the result of each step."""
    process = await asyncio.create_subprocess_exec(
        browser(),
        "browse.mjs",
        str(page),
        cwd=HERE,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    said, errors = await process.communicate(json.dumps(steps).encode())
    assert process.returncode == 0, errors.decode()
    return json.loads(said)


def nostr_relay() -> str:
    beside = Path(sys.prefix) / "peer-relay" / "bin" / "nostr-relay"
    found = os.environ.get(RELAY_ENV) or str(beside)
    if not Path(found).exists():
        pytest.skip(f"nostr-relay is not here: `make test` installs it, or {RELAY_ENV} names it")
    return found


async def person(task: str, relay: str, given: object = None) -> Any:
    """What the person with nostr-tools says in the end."""
    return await script("person.mjs", task, relay, given=given)


async def script(name: str, *arguments: str, given: object = None) -> Any:
    """What it says in the end to what it is given on standard input."""
    process = await asyncio.create_subprocess_exec(
        node(),
        name,
        *arguments,
        cwd=HERE,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    said, errors = await process.communicate(json.dumps(given).encode())
    assert process.returncode == 0, errors.decode()
    return json.loads(said)


@contextlib.asynccontextmanager
async def other_relay(folder: Path) -> AsyncIterator[str]:
    """The URL of a running nostr-relay with a database of its own."""
    command, port = nostr_relay(), free_port()
    process = _start(command, folder, port)
    try:
        await _listening(process, port, folder / "peer.log")
        yield f"ws://127.0.0.1:{port}"
    finally:
        process.terminate()
        await asyncio.to_thread(process.wait)


def _start(command: str, folder: Path, port: int) -> subprocess.Popen[bytes]:
    folder.mkdir(parents=True)
    (folder / "peer.yaml").write_text(RELAY_CONFIG.format(folder=folder, port=port))
    with (folder / "peer.log").open("wb") as log:
        return subprocess.Popen(
            [command, "--config", "peer.yaml", "serve"], cwd=folder, stdout=log, stderr=log
        )


async def _listening(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    async with asyncio.timeout(START_S):
        while True:
            with contextlib.suppress(OSError):
                _, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.close()
                return
            if process.poll() is not None:
                pytest.fail(await asyncio.to_thread(log.read_text))
            await asyncio.sleep(0.05)

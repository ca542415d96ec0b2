"""Starts `uniun-bots` as child processes that die alone, without paying for the imports each time.

Run as a program it imports everything once and forks a child for each line on its standard input; it tells
`["born", pid]` and, when a child has ended, `["ended", pid, exit code or minus signal]`.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import json
import os
import resource
import selectors
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, NoReturn, Self

PASSED_ON = ("PATH", "HOME", "LANG", "TMPDIR", "VIRTUAL_ENV")


class Child:
    def __init__(self, pid: int, said: Path) -> None:
        self.pid, self.said = pid, said
        self.code: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        """The exit code, or minus the signal that ended it."""

    def signal(self, number: int) -> None:
        if not self.code.done():
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    async def ended(self, within_s: float) -> bool:
        await asyncio.wait([self.code], timeout=within_s)
        return self.code.done()

    async def says(self, words: str, within_s: float = 30.0) -> bool:
        """Wait for words on its standard output or error; False when it ended without them."""
        async with asyncio.timeout(within_s):
            while words not in (self.said.read_text() if self.said.exists() else ""):
                if self.code.done():
                    return False
                await asyncio.sleep(0.005)
        return True


class Nursery:
    """`async with Nursery(tmp_path) as nursery: child = await nursery.bear(["run", folder], environ)`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._children: dict[int, Child] = {}
        self._born: asyncio.Queue[int] = asyncio.Queue()
        self._count = 0

    async def __aenter__(self) -> Self:
        self._folder.mkdir(parents=True, exist_ok=True)
        environ = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
        self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "tests.force.nursery",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            cwd=Path(__file__).parents[2],
            env=environ,
        )
        self._reading = asyncio.create_task(self._read())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        left = list(self._children.values())
        for child in left:
            child.signal(signal.SIGKILL)
        for child in left:
            await child.ended(5)
        if self._process.stdin:
            self._process.stdin.close()
        await self._process.wait()
        await self._reading

    async def bear(
        self, command: Sequence[str], environ: dict[str, str], most_bytes: int | None = None
    ) -> Child:
        """`most_bytes`: the largest that a file may grow which it writes."""
        self._count += 1
        said = self._folder / f"child-{self._count}.txt"
        asked = {"command": list(command), "environ": environ, "said": str(said), "most_bytes": most_bytes}
        assert self._process.stdin
        self._process.stdin.write(json.dumps(asked).encode() + b"\n")
        pid = await self._born.get()
        child = self._children[pid]
        child.said = said
        return child

    async def _read(self) -> None:
        assert self._process.stdout
        async for line in self._process.stdout:
            told = json.loads(line)
            if told[0] == "born":
                self._children[told[1]] = Child(told[1], self._folder)
                self._born.put_nowait(told[1])
            else:
                self._children.pop(told[1]).code.set_result(told[2])


def _be_child(asked: dict[str, Any]) -> NoReturn:
    from uniun_bots import failpoints
    from uniun_bots.cli.main import main

    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    said = os.open(asked["said"], os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
    for number in (1, 2):
        os.dup2(said, number)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.environ.update(asked["environ"])
    if asked["most_bytes"] is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (asked["most_bytes"], resource.RLIM_INFINITY))
    importlib.reload(failpoints)
    try:
        main(asked["command"])
    except SystemExit as leaving:
        code = leaving.code if isinstance(leaving.code, int) else 1
    except BaseException:
        sys.excepthook(*sys.exc_info())
        code = 1
    else:
        code = 0
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _tell(*words: object) -> None:
    os.write(1, json.dumps(words).encode() + b"\n")


def _reap() -> None:
    with contextlib.suppress(ChildProcessError):
        while (found := os.waitpid(-1, os.WNOHANG))[0]:
            _tell("ended", found[0], os.waitstatus_to_exitcode(found[1]))


def _serve() -> None:
    for module in ("uniun_bots.cli.main", "uniun_bots.cli.run", "uniun_bots.host.host"):
        importlib.import_module(module)
    hearing, waking = os.pipe()
    os.set_blocking(waking, False)
    os.set_blocking(hearing, False)
    signal.set_wakeup_fd(waking, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    ready = selectors.DefaultSelector()
    ready.register(0, selectors.EVENT_READ)
    ready.register(hearing, selectors.EVENT_READ)
    rest = b""
    while True:
        for key, _ in ready.select():
            if key.fd == hearing:
                os.read(hearing, 4096)
                _reap()
                continue
            piece = os.read(0, 65536)
            if not piece:
                return
            *lines, rest = (rest + piece).split(b"\n")
            for line in lines:
                if (pid := os.fork()) == 0:
                    _be_child(json.loads(line))
                _tell("born", pid)


if __name__ == "__main__":
    _serve()

"""The command `uniun-bots` as people start it: a process of its own."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

COMMAND = str(Path(sys.executable).parent / "uniun-bots")
WITHIN_S = 40.0


@dataclass(frozen=True, slots=True)
class Ended:
    code: int
    out: str
    err: str

    @property
    def all(self) -> str:
        return self.out + self.err


class Child:
    """`async with Child("run", folder) as host: await host.says("hosting")`; it is ended on the way out."""

    def __init__(self, *arguments: str | Path, env: Mapping[str, str] | None = None) -> None:
        self._command = self.command(*arguments)
        self._env = self.environment(env or {})
        self._lines: dict[str, list[str]] = {"out": [], "err": []}
        self._came = asyncio.Event()

    async def __aenter__(self) -> Self:
        self.process = await asyncio.create_subprocess_exec(
            *self._command,
            env=self._env,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            limit=2**24,
        )
        streams = {"out": self.process.stdout, "err": self.process.stderr}
        self._readers = [asyncio.ensure_future(self._read(name, stream)) for name, stream in streams.items()]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process.returncode is None:
            self.process.kill()
        await self.process.wait()
        await asyncio.gather(*self._readers)

    @staticmethod
    def command(*arguments: str | Path) -> list[str]:
        return [COMMAND, *map(str, arguments)]

    @staticmethod
    def environment(given: Mapping[str, str]) -> dict[str, str]:
        """Ours without what would reach into the host, and wide tables."""
        clean = {key: value for key, value in os.environ.items() if not key.startswith("UNIUN_BOTS")}
        return {**clean, "COLUMNS": "200", **given}

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def said(self) -> str:
        return "".join(self._lines["out"] + self._lines["err"])

    async def says(self, words: str, times: int = 1) -> str:
        """The line with these words, once it has been said so often."""
        async with asyncio.timeout(WITHIN_S):
            while True:
                self._came.clear()
                found = [line for line in self._lines["out"] + self._lines["err"] if words in line]
                if len(found) >= times:
                    return found[-1]
                if self.process.returncode is not None and all(one.done() for one in self._readers):
                    raise AssertionError(f"it ended without saying {words!r}:\n{self.said}")
                await asyncio.wait_for(self._came.wait(), WITHIN_S)

    def send(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    async def end(self, number: signal.Signals | None = signal.SIGTERM, within_s: float = WITHIN_S) -> Ended:
        """Ask it to end, or with None wait until it does."""
        if number is not None and self.process.returncode is None:
            self.process.send_signal(number)
        async with asyncio.timeout(within_s):
            code = await self.process.wait()
            await asyncio.gather(*self._readers)
        return Ended(code, "".join(self._lines["out"]), "".join(self._lines["err"]))

    async def _read(self, name: str, stream: asyncio.StreamReader | None) -> None:
        while stream is not None and (line := await stream.readline()):
            self._lines[name].append(line.decode())
            self._came.set()
        self._came.set()


async def cli(*arguments: str | Path, env: Mapping[str, str] | None = None) -> Ended:
    """Run a command to its end."""
    async with Child(*arguments, env=env) as child:
        return await child.end(None)

"""The worker seen from the host: a child process that answers by number, until it dies."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from uniun_bots import errors
from uniun_bots.clock import monotonic
from uniun_bots.inference.llama.protocol import (
    CANCELLED,
    Cancel,
    Counts,
    Done,
    Embedded,
    Failed,
    FromWorker,
    Load,
    Loaded,
    Piece,
    ToWorker,
    decode,
    encode,
)

MODEL = "uniun_bots.inference.llama.worker"
COUNTING = "uniun_bots.inference.llama.counting_worker"
LONGEST_LINE = 16 * 2**20
LAST_LINES = 5
# A worker reads files that strangers made: it gets no secrets by its environment.
_PASSED_ON = (
    "PATH", "HOME", "LANG", "LC_", "TMPDIR", "LD_", "DYLD_", "PYTHON", "VIRTUAL_ENV", "GGML_", "LLAMA_",
    "OMP_", "CUDA_", "HIP_", "HSA_", "ROCR_", "VK_", "METAL_",
)  # fmt: skip


@dataclass(slots=True)
class _Pending:
    answer: asyncio.Future[FromWorker]
    heard_at: float
    on_piece: Callable[[str], None] | None


class WorkerProcess:
    """Raises EngineLost to everybody who waits when the process ends, however it ends."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._pending: dict[int, _Pending] = {}
        self._stderr: deque[str] = deque(maxlen=LAST_LINES)
        self._killed_because = ""
        self._tasks = (asyncio.create_task(self._read_answers()), asyncio.create_task(self._read_stderr()))

    @classmethod
    async def start(cls, load: Load, stall_s: float, module: str = MODEL) -> tuple[WorkerProcess, Loaded]:
        """Raises ModelUnusable, EngineLost."""
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", module),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            limit=LONGEST_LINE,
            env={name: value for name, value in os.environ.items() if name.startswith(_PASSED_ON)},
            # Ctrl-C in a terminal is for the host, which then ends its workers in order.
            start_new_session=True,
        )
        worker = cls(process)
        try:
            loaded = await worker.ask(load, stall_s)
        except BaseException:
            worker.kill("it did not load the model")
            await worker.wait()
            raise
        if not isinstance(loaded, Loaded):
            raise TypeError(f"Load was answered by {loaded}")
        return worker, loaded

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def died_of(self) -> int:
        """The signal that ended it, 0 when it was none."""
        return max(0, -(self._process.returncode or 0))

    @property
    def is_dead(self) -> bool:
        """Or as good as dead: what was killed takes a moment to go."""
        return bool(self._killed_because) or self._process.returncode is not None

    async def ask(
        self, message: ToWorker, stall_s: float, on_piece: Callable[[str], None] | None = None
    ) -> FromWorker:
        """The answer; a worker without a sign of life for `stall_s` is killed. Raises what it tells."""
        pending = _Pending(asyncio.get_running_loop().create_future(), monotonic(), on_piece)
        if self.is_dead:
            raise self.lost()
        self._pending[message.id] = pending
        self._write(message)
        try:
            while (left := pending.heard_at + stall_s - monotonic()) > 0 and not pending.answer.done():
                await asyncio.wait([pending.answer], timeout=left)
            if not pending.answer.done():
                self.kill(f"no sign of life for {stall_s:g} s")
            answer = await pending.answer
        finally:
            self._pending.pop(message.id, None)
        if isinstance(answer, Failed):
            raise _error(answer)
        return answer

    async def cancel(self, number: int, patience_s: float) -> Counts | None:
        """Stop one request, by force if the worker does not within `patience_s`; what it had taken.

        A caller that is told again to stop waits all the same: to end the worker would cost the next one a start.
        """
        if self.is_dead:
            return None
        answer: asyncio.Future[FromWorker] = asyncio.get_running_loop().create_future()
        self._pending[number] = _Pending(answer, monotonic(), None)
        self._write(Cancel(number))
        until = monotonic() + patience_s
        while not answer.done() and (left := until - monotonic()) > 0:
            with suppress(asyncio.CancelledError):
                await asyncio.wait([answer], timeout=left)
        self._pending.pop(number, None)
        if not answer.done():
            self.kill("it did not stop when it was told")
        return _counts(answer)

    def kill(self, why: str) -> None:
        self._killed_because = self._killed_because or why
        if self._process.returncode is None:
            self._process.kill()

    async def wait(self) -> None:
        await asyncio.gather(*self._tasks)

    async def aclose(self, patience_s: float) -> None:
        """The end of its pipe is the end of the worker; one that does not leave is killed."""
        self._killed_because = self._killed_because or "the host is closing"
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            await asyncio.wait(self._tasks, timeout=patience_s)
        finally:
            self.kill("the host is closing")
        await self.wait()

    def _write(self, message: ToWorker) -> None:
        """Without waiting for the pipe: a worker that does not read is found by its silence."""
        if self._process.stdin is not None and not self._process.stdin.is_closing():
            self._process.stdin.write(encode(message))

    async def _read_answers(self) -> None:
        stdout = self._process.stdout
        try:
            while stdout is not None and (line := await stdout.readline()):
                self._hear(line)
        except (ValueError, TypeError, KeyError) as error:
            self.kill(f"it wrote what is no answer: {error}")
        await self._process.wait()
        lost = self.lost()
        for pending in self._pending.values():
            if not pending.answer.done():
                pending.answer.set_exception(lost)

    def _hear(self, line: bytes) -> None:
        answer = decode(line)
        pending = self._pending.get(answer.id)
        if pending is None:
            return
        pending.heard_at = monotonic()
        if isinstance(answer, Embedded) and not answer.whole:
            return
        if isinstance(answer, Piece):
            if pending.on_piece is not None:
                # An error of the listener is the listener's, not a broken pipe.
                asyncio.get_running_loop().call_soon(pending.on_piece, answer.text)
        elif not pending.answer.done():
            pending.answer.set_result(_from_worker(answer))

    async def _read_stderr(self) -> None:
        stderr = self._process.stderr
        while stderr is not None and (data := await stderr.read(4096)):
            self._stderr.extend(line for line in data.decode(errors="replace").splitlines() if line.strip())

    def lost(self) -> errors.EngineLost:
        how = f"killed by {signal.Signals(self.died_of).name}" if self.died_of else "it ended"
        if self.died_of == signal.SIGKILL and not self._killed_because:
            how += ", which is what the system does when memory runs out"
        why = f": {self._killed_because}" if self._killed_because else ""
        words = f"; its last words: {' / '.join(self._stderr)[-500:]}" if self._stderr else ""
        return errors.EngineLost(f"the model's worker process is gone ({how}){why}{words}", self.died_of)


def _counts(answer: asyncio.Future[FromWorker]) -> Counts | None:
    if not answer.done() or answer.cancelled() or answer.exception() is not None:
        return None
    heard = answer.result()
    return heard.counts if isinstance(heard, Done | Failed) else None


def _from_worker(answer: ToWorker | FromWorker) -> FromWorker:
    if not isinstance(answer, FromWorker):
        raise ValueError(f"the worker said {type(answer).__name__}")
    return answer


_ERRORS: dict[str, Callable[[Failed], errors.EngineError]] = {
    "PromptTooLong": lambda failed: errors.PromptTooLong(*failed.numbers),
    "ModelUnusable": lambda failed: errors.ModelUnusable(failed.message),
    "SchemaRefused": lambda failed: errors.SchemaRefused(failed.message),
    CANCELLED: lambda failed: errors.EngineLost("the request was cancelled under its caller"),
}


def _error(failed: Failed) -> errors.EngineError:
    make = _ERRORS.get(failed.kind)
    return make(failed) if make else errors.EngineError(failed.message)

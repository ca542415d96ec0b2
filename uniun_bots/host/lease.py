"""The lease on a data folder: one host at a time. The kernel gives it back when the process ends, however it ends."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

from uniun_bots.errors import HostRunning


@contextlib.contextmanager
def lease(data_dir: Path) -> Iterator[None]:
    """Raises HostRunning with the pid of the host that holds it."""
    data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
    file = os.open(data_dir / "host.lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise HostRunning(str(data_dir), _pid(file)) from None
        with contextlib.suppress(
            OSError
        ):  # On a full disk nobody is told our pid; the lease holds all the same.
            os.ftruncate(file, 0)
            os.pwrite(file, str(os.getpid()).encode(), 0)
        yield
    finally:
        os.close(file)


def holder(data_dir: Path) -> int | None:
    """The pid of the host that runs on this folder, if one does."""
    try:
        with lease(data_dir):
            return None
    except HostRunning as running:
        return running.pid


def _pid(file: int) -> int:
    text = os.pread(file, 32, 0).decode()
    return int(text) if text.isdigit() else 0

"""The lease on a data folder: one host at a time. The kernel gives it back when the process ends, however it ends."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

from uniun_bots.errors import HostRunning

LOCK = "host.lock"


@contextlib.contextmanager
def lease(data_dir: Path) -> Iterator[None]:
    """Raises HostRunning with the pid of the host that holds it."""
    data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
    file = os.open(data_dir / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        if not _seized(file):
            raise HostRunning(str(data_dir), _pid(file))
        with contextlib.suppress(OSError):
            # On a full disk nobody is told our pid; the lease holds all the same.
            os.ftruncate(file, 0)
            os.pwrite(file, str(os.getpid()).encode(), 0)
        yield
    finally:
        os.close(file)


def holder(data_dir: Path) -> int | None:
    """The pid of the host that runs on this folder, if one does. Nothing is written, and no start is refused for it."""
    try:
        file = os.open(data_dir / LOCK, os.O_RDONLY)
    except FileNotFoundError:
        return None
    try:
        return None if _lock(file, fcntl.LOCK_SH) else _pid(file)
    finally:
        os.close(file)


def _seized(file: int) -> bool:
    """Whoever only asks shares the lock for an instant, so a lock that can be shared is held by no host."""
    while not _lock(file, fcntl.LOCK_EX):
        if not _lock(file, fcntl.LOCK_SH):
            return False
    return True


def _lock(file: int, kind: int) -> bool:
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _pid(file: int) -> int:
    text = os.pread(file, 32, 0).decode()
    return int(text) if text.isdigit() else 0

from __future__ import annotations

import errno
import fcntl
import os
import threading
from pathlib import Path

import pytest

from uniun_bots.errors import HostRunning
from uniun_bots.host.lease import holder, lease


def test_a_second_host_is_told_the_pid_of_the_first(tmp_path: Path) -> None:
    with lease(tmp_path), pytest.raises(HostRunning, match=str(os.getpid())), lease(tmp_path):
        pass
    assert holder(tmp_path) is None


def test_whoever_asks_who_holds_it_keeps_no_host_from_starting(tmp_path: Path) -> None:
    with lease(tmp_path):
        pass
    asking = os.open(tmp_path / "host.lock", os.O_RDONLY)
    fcntl.flock(asking, fcntl.LOCK_SH)
    threading.Timer(0.05, os.close, (asking,)).start()  # a question lasts an instant, this one a long one
    with lease(tmp_path):
        assert holder(tmp_path) == os.getpid()


def test_who_holds_it_is_asked_without_writing(tmp_path: Path) -> None:
    assert holder(tmp_path / "nowhere") is None
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_takes_the_pid_and_not_the_lease(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(file: int, text: bytes, at: int) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "pwrite", full)
    with lease(tmp_path):
        assert holder(tmp_path) == 0
    assert holder(tmp_path) is None

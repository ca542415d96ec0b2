from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from uniun_bots.errors import HostRunning
from uniun_bots.host.lease import holder, lease


def test_a_second_host_is_told_the_pid_of_the_first(tmp_path: Path) -> None:
    with lease(tmp_path), pytest.raises(HostRunning, match=str(os.getpid())), lease(tmp_path):
        pass
    assert holder(tmp_path) is None


def test_a_full_disk_takes_the_pid_and_not_the_lease(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(file: int, text: bytes, at: int) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "pwrite", full)
    with lease(tmp_path):
        assert holder(tmp_path) == 0
    assert holder(tmp_path) is None

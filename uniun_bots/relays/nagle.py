"""TCP sends each word at once.

The SDK leaves Nagle's algorithm on: a short word is held back until the other side has acknowledged the one before,
and kernels take up to 40 ms for that. A CLOSE before an EVENT is enough to delay a reply.
"""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Iterator
from pathlib import Path

DESCRIPTORS = Path("/proc/self/fd")


def turn_off_nagle() -> None:
    """For every TCP socket of this process; what a listening one accepts later inherits it. Blocking.

    The SDK does not give its sockets away, but they are ours like every other descriptor. Without /proc they stay
    as they are.
    """
    for ours in _sockets():
        with ours, contextlib.suppress(OSError):
            if ours.family in (socket.AF_INET, socket.AF_INET6) and ours.type == socket.SOCK_STREAM:
                ours.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


def _sockets() -> Iterator[socket.socket]:
    for entry in list(DESCRIPTORS.iterdir()) if DESCRIPTORS.exists() else ():
        # One that was closed meanwhile needs nothing any more.
        with contextlib.suppress(OSError):
            if entry.is_socket():
                yield socket.socket(fileno=os.dup(int(entry.name)))

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from uniun_bots.relays import nagle
from uniun_bots.relays.local import LocalRelay
from uniun_bots.relays.nagle import turn_off_nagle


def sends_at_once(one: socket.socket) -> bool:
    return one.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) != 0


def test_every_connection_sends_at_once_and_no_descriptor_is_left_open() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.create_connection(server.getsockname()) as one,
    ):
        assert not sends_at_once(one)
        server.accept()[0].close()
        before = len(os.listdir("/proc/self/fd"))
        turn_off_nagle()
        assert sends_at_once(one)
        assert len(os.listdir("/proc/self/fd")) == before
        with socket.create_connection(server.getsockname()), server.accept()[0] as accepted:
            assert sends_at_once(accepted), "as the socket that listens"


async def test_the_local_relay_answers_at_once(relay: LocalRelay) -> None:
    def seen() -> list[bool]:
        with contextlib.closing(socket.create_connection(("127.0.0.1", port))):
            return [sends_at_once(one) for one in own_sockets() if one.getsockname()[1] == port]

    port = int(relay.url.rsplit(":", 1)[1])
    found = await asyncio.to_thread(seen)
    assert found, "its sockets are those of this process"
    assert all(found)


def own_sockets() -> Iterator[socket.socket]:
    for entry in list(Path("/proc/self/fd").iterdir()):
        if entry.is_socket():
            with socket.socket(fileno=os.dup(int(entry.name))) as one:
                if one.family == socket.AF_INET:
                    yield one


def test_without_proc_nothing_happens(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(nagle, "DESCRIPTORS", tmp_path / "none")
    with socket.create_server(("127.0.0.1", 0)) as server:
        turn_off_nagle()
        assert not sends_at_once(server)

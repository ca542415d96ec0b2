from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from nostr_sdk import Keys

from tests.relays.conftest import note, raw, until
from uniun_bots.clock import WallClock
from uniun_bots.personas.relay_set import RelayAddress
from uniun_bots.relays.gateway import Gateway
from uniun_bots.relays.local import LocalRelay
from uniun_bots.relays.options import GatewayOptions
from uniun_bots.relays.receipt import Fate


class Socks:
    """As much of SOCKS5 (RFC 1928) as a CONNECT needs; remembers where it was sent."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, int]] = []
        self._pipes: set[asyncio.Task[None]] = set()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        _, count = await reader.readexactly(2)
        await reader.readexactly(count)
        writer.write(b"\x05\x00")
        kind = (await reader.readexactly(4))[3]
        length = {1: 4, 4: 16}.get(kind) or (await reader.readexactly(1))[0]
        address = await reader.readexactly(length)
        host = ".".join(map(str, address)) if kind == 1 else address.decode()
        port = int.from_bytes(await reader.readexactly(2), "big")
        self.asked.append((host, port))
        there_reader, there_writer = await asyncio.open_connection(host, port)
        writer.write(b"\x05\x00\x00\x01\x00\x00\x00\x00\x00\x00")
        for pair in ((reader, there_writer), (there_reader, writer)):
            self._pipes.add(asyncio.create_task(self._pipe(*pair)))

    async def end(self) -> None:
        for pipe in self._pipes:
            pipe.cancel()
        await asyncio.gather(*self._pipes, return_exceptions=True)

    async def _pipe(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while data := await reader.read(65536):
                writer.write(data)
        finally:
            writer.close()


@pytest.fixture
async def socks() -> AsyncIterator[tuple[Socks, int]]:
    running = Socks()
    server = await asyncio.start_server(running.serve, "127.0.0.1", 0)
    yield running, server.sockets[0].getsockname()[1]
    server.close()
    await running.end()


async def test_with_a_proxy_nothing_goes_beside_it(
    relay: LocalRelay, keys: Keys, socks: tuple[Socks, int]
) -> None:
    proxy, port = socks
    options = GatewayOptions(relays=(RelayAddress(url=relay.url),), proxy=f"socks5://localhost:{port}")
    async with Gateway(options, WallClock()) as gateway:
        (receipt,) = await gateway.send(raw(note(keys, "through")), [relay.url], "")
        assert receipt.fate is Fate.ACCEPTED
        assert proxy.asked == [("127.0.0.1", int(relay.url.rsplit(":", 1)[1]))]
        assert await gateway.information(relay.url) is None


async def test_names_are_resolved_behind_the_proxy(relay: LocalRelay, socks: tuple[Socks, int]) -> None:
    proxy, port = socks
    url = relay.url.replace("127.0.0.1", "localhost")
    options = GatewayOptions(relays=(RelayAddress(url=url),), proxy=f"socks5://127.0.0.1:{port}")
    async with Gateway(options, WallClock()):
        await until(lambda: proxy.asked)
        assert proxy.asked[0] == ("localhost", int(url.rsplit(":", 1)[1]))

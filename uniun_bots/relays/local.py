"""The local relay: for tests, demos and first steps. Not for the public internet."""

from __future__ import annotations

import asyncio
import socket
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from nostr_sdk import (
    LocalRelay as SdkLocalRelay,
)
from nostr_sdk import (
    LocalRelayBuilder,
    LocalRelayBuilderNip42,
    LocalRelayBuilderNip42Mode,
    NostrLmdb,
    NostrSdkError,
    RateLimit,
    uniffi_set_event_loop,
)

from uniun_bots.errors import RelayError
from uniun_bots.relays.nagle import turn_off_nagle


@dataclass(frozen=True, slots=True)
class LocalRelayOptions:
    host: str = "127.0.0.1"
    port: int = 0
    """0: a free one."""
    database: Path | None = None
    """A folder; None keeps events in memory, at most 75,000."""
    auth: bool = False
    """Reading and writing only after a login (NIP-42)."""
    min_pow: int = 0
    notes_per_minute: int = 1_000_000_000
    max_reqs: int = 1_000


class LocalRelay:
    """`async with LocalRelay() as relay: relay.url`. Answers at most 500 stored events to a REQ."""

    def __init__(self, options: LocalRelayOptions | None = None) -> None:
        self.options = options or LocalRelayOptions()
        self.url = ""

    async def __aenter__(self) -> Self:
        # A relay with a database calls back into this event loop.
        uniffi_set_event_loop(asyncio.get_running_loop())
        port = self.options.port or free_port(self.options.host)
        builder = await self._builder(port)
        self._relay: SdkLocalRelay = builder.build()
        try:
            await self._relay.run()
        except NostrSdkError as error:
            raise RelayError(f"cannot listen on {self.options.host}:{port}: {error}") from None
        await asyncio.to_thread(turn_off_nagle)
        self.url = url_at(self.options.host, port)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._relay.shutdown()

    async def _builder(self, port: int) -> LocalRelayBuilder:
        options = self.options
        builder = (
            LocalRelayBuilder()
            .addr(options.host)
            .port(port)
            .rate_limit(RateLimit(max_reqs=options.max_reqs, notes_per_minute=options.notes_per_minute))
        )
        if options.database is not None:
            options.database.mkdir(parents=True, exist_ok=True)
            builder = builder.database(await NostrLmdb.open(str(options.database)))
        if options.auth:
            builder = builder.nip42(LocalRelayBuilderNip42(mode=LocalRelayBuilderNip42Mode.BOTH))
        if options.min_pow:
            builder = builder.min_pow(options.min_pow)
        return builder


def free_port(host: str = "127.0.0.1") -> int:
    """One that was free a moment ago. Raises RelayError where nobody can listen."""
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        try:
            probe.bind((host, 0))
        except OSError as error:
            raise RelayError(f"cannot listen on {host}: {error.strerror}") from None
        return int(probe.getsockname()[1])


def url_at(host: str, port: int) -> str:
    return f"ws://[{host}]:{port}" if ":" in host else f"ws://{host}:{port}"

"""Whether a domain says that a name on it is a key (NIP-05). The name was written by a stranger, so was the domain."""

from __future__ import annotations

import json
import logging
import re
import socket
from dataclasses import dataclass
from enum import StrEnum
from types import TracebackType
from typing import Self
from urllib.parse import quote

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.resolver import ThreadedResolver

from uniun_bots.relays.hints import is_public_address

log = logging.getLogger(__name__)

TIMEOUT_S = 5.0
LARGEST_BYTES = 64 * 1024
_NAME = re.compile(
    r"(?:([a-z0-9._-]{1,64})@)?((?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]*[a-z0-9])"
)
_LONGEST_DOMAIN = 253


class Standing(StrEnum):
    CONFIRMED = "confirmed"
    """The domain names this key."""
    DENIED = "denied"
    """It names another key, or none."""
    UNKNOWN = "unknown"
    """It was not asked, or did not answer."""


@dataclass(frozen=True, slots=True)
class Nip05Name:
    local: str
    domain: str

    def __str__(self) -> str:
        """`_@domain` stands for the domain itself."""
        return self.domain if self.local == "_" else f"{self.local}@{self.domain}"


def read_name(written: str) -> Nip05Name | None:
    """None for what is no such name; addresses of hosts are none."""
    found = _NAME.fullmatch(written.strip().lower())
    return Nip05Name(found[1] or "_", found[2]) if found and len(found[2]) <= _LONGEST_DOMAIN else None


class PublicResolver(AbstractResolver):
    """Finds hosts on the public internet alone, and what it found is what is connected to."""

    def __init__(self, inner: AbstractResolver | None = None) -> None:
        self._inner = inner or ThreadedResolver()

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        found = await self._inner.resolve(host, port, family)
        if not found or not all(is_public_address(one["host"]) for one in found):
            raise OSError(None, "it is not on the public internet")
        return found

    async def close(self) -> None:
        await self._inner.close()


class Nip05:
    """`async with Nip05(proxied=…) as names: await names.standing(name, public_key)`. Nothing is raised here."""

    def __init__(
        self, *, proxied: bool, resolver: AbstractResolver | None = None, base: str = "https://{domain}"
    ) -> None:
        """`proxied`: nothing may go out beside a proxy, so nothing is asked. The others stand in for the internet."""
        self._proxied, self._resolver, self._base = proxied, resolver or PublicResolver(), base

    async def __aenter__(self) -> Self:
        self._http = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(resolver=self._resolver, use_dns_cache=False),
            timeout=aiohttp.ClientTimeout(total=TIMEOUT_S),
            cookie_jar=aiohttp.DummyCookieJar(),
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._http.close()

    async def standing(self, name: Nip05Name, public_key: str) -> Standing:
        if self._proxied:
            return Standing.UNKNOWN
        url = f"{self._base.format(domain=name.domain)}/.well-known/nostr.json?name={quote(name.local)}"
        try:
            # NIP-05: redirects must be ignored.
            async with self._http.get(url, allow_redirects=False) as answer:
                if answer.status != 200:
                    return Standing.UNKNOWN
                body = await _read(answer)
        except (TimeoutError, OSError, aiohttp.ClientError, ValueError) as error:
            log.debug("no names from %s: %s", name.domain, error)
            return Standing.UNKNOWN
        return Standing.UNKNOWN if body is None else _standing(body, name.local, public_key)


async def _read(answer: aiohttp.ClientResponse) -> bytes | None:
    """None for what is too large: half a document says nothing."""
    body = b""
    async for chunk in answer.content.iter_chunked(LARGEST_BYTES):
        body += chunk
        if len(body) > LARGEST_BYTES:
            return None
    return body


def _standing(body: bytes, local: str, public_key: str) -> Standing:
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return Standing.UNKNOWN
    names = found.get("names") if isinstance(found, dict) else None
    if not isinstance(names, dict):
        return Standing.UNKNOWN
    return Standing.CONFIRMED if names.get(local) == public_key else Standing.DENIED

"""Relay hints in tags and references are written by strangers: which of them may be followed."""

from __future__ import annotations

import asyncio
import ipaddress
import logging
from collections.abc import Awaitable, Callable, Iterable
from urllib.parse import urlsplit

from uniun_bots.personas.relay_set import relay_url

log = logging.getLogger(__name__)

LOOK_UP_S = 3.0
MOST_HINTS = 5
Resolve = Callable[[str, int], Awaitable[list[str]]]


async def public_hints(urls: Iterable[str], resolve: Resolve | None = None) -> list[str]:
    """The first few that are `wss`, and of which every address is on the public internet.

    Relays that the operator configured need no such check. The SDK looks the name up once more when it
    connects and follows no redirects.
    """
    candidates = list(dict.fromkeys(filter(None, map(_plain, urls))))[:MOST_HINTS]
    fine = await asyncio.gather(*(_is_public(url, resolve or _addresses) for url in candidates))
    return [url for url, good in zip(candidates, fine, strict=True) if good]


def _plain(hint: str) -> str | None:
    try:
        url = relay_url(hint.strip())
        parts = urlsplit(url)
        good = parts.scheme == "wss" and parts.hostname and parts.username is None
    except ValueError:
        return None
    return url if good else None


async def _is_public(url: str, resolve: Resolve) -> bool:
    parts = urlsplit(url)
    try:
        async with asyncio.timeout(LOOK_UP_S):
            addresses = await resolve(parts.hostname or "", parts.port or 443)
    except (OSError, TimeoutError, UnicodeError) as error:
        log.debug("hint %s: %s", url, error)
        return False
    return bool(addresses) and all(is_public_address(address) for address in addresses)


def is_near(host: str) -> bool:
    """Whether this names the machine itself or an address of its own network; other names are not looked up."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        address = ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return False
    return address.is_loopback or address.is_private


def is_public_address(text: str) -> bool:
    try:
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return False
    # An IPv4 address inside an IPv6 one leads to the IPv4 one.
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour or (address.teredo[1] if address.teredo else None)
        if inner is not None:
            return inner.is_global and address.is_global
    return address.is_global and not address.is_multicast


async def _addresses(host: str, port: int) -> list[str]:
    found = await asyncio.get_running_loop().getaddrinfo(host, port)
    return [str(entry[4][0]) for entry in found]

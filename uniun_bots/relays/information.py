"""What a relay says about itself (NIP-11)."""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

import aiohttp

from uniun_bots.clock import Clock

log = logging.getLogger(__name__)

TIMEOUT_S = 5.0
LARGEST_BYTES = 64 * 1024
KEPT_S = 3600.0
KEPT_FAILURE_S = 60.0


@dataclass(frozen=True, slots=True)
class Information:
    name: str = ""
    software: str = ""
    nips: frozenset[int] = frozenset()
    min_pow_difficulty: int = 0
    auth_required: bool = False
    payment_required: bool = False
    restricted_writes: bool = False
    max_subscriptions: int | None = None
    max_limit: int | None = None


class Informer:
    """Asks each relay once an hour at most."""

    def __init__(self, clock: Clock, proxied: bool) -> None:
        self._clock, self._proxied = clock, proxied
        self._kept: dict[str, tuple[float, Information | None]] = {}

    async def __aenter__(self) -> Self:
        self._http = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=TIMEOUT_S))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._http.close()

    async def ask(self, url: str) -> Information | None:
        # aiohttp speaks no SOCKS: going around the proxy would tell the relay where we are.
        if self._proxied:
            return None
        until, kept = self._kept.get(url, (0.0, None))
        if self._clock.now() < until:
            return kept
        found = await self._ask(url)
        self._kept[url] = (self._clock.now() + (KEPT_S if found else KEPT_FAILURE_S), found)
        return found

    async def _ask(self, url: str) -> Information | None:
        try:
            async with self._http.get(
                url.replace("ws", "http", 1), headers={"Accept": "application/nostr+json"}
            ) as answer:
                body = await answer.content.read(LARGEST_BYTES)
                return read_information(body) if answer.status == 200 else None
        except (TimeoutError, aiohttp.ClientError, ValueError) as error:
            log.debug("no information from %s: %s", url, error)
            return None


def read_information(body: bytes) -> Information | None:
    """Relays write what they like in here: a field of the wrong type counts as not given."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict):
        return None
    limits = found.get("limitation")
    limits = limits if isinstance(limits, dict) else {}
    nips = found.get("supported_nips")
    return Information(
        name=_text(found.get("name")),
        software=_text(found.get("software")),
        nips=frozenset(n for n in nips if _is_whole(n)) if isinstance(nips, list) else frozenset(),
        min_pow_difficulty=_whole(limits.get("min_pow_difficulty")) or 0,
        auth_required=limits.get("auth_required") is True,
        payment_required=limits.get("payment_required") is True,
        restricted_writes=limits.get("restricted_writes") is True,
        max_subscriptions=_whole(limits.get("max_subscriptions")),
        max_limit=_whole(limits.get("max_limit")),
    )


def _text(value: Any) -> str:
    return value[:200] if isinstance(value, str) else ""


def _is_whole(value: Any) -> bool:
    return type(value) is int and 0 <= value < 2**31


def _whole(value: Any) -> int | None:
    return value if _is_whole(value) else None

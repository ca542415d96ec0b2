"""HTTP to one model server: the key, patience, second tries, and every foreign error turned into ours.

Nothing is chained to an error of aiohttp: some of those carry the headers of the request, with the key in them.
"""

from __future__ import annotations

import asyncio
import json
import random
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from itertools import count
from typing import Any

import aiohttp

from uniun_bots.clock import Clock, WallClock
from uniun_bots.errors import EngineError, EngineLost, ServerRefused
from uniun_bots.inference.openai.refusal import Asked, is_page, refusal

CONNECT_S = 10.0
STALL_S = 120.0
TRIES = 4
FIRST_PAUSE_S = 0.5
LONGEST_PAUSE_S = 60.0
"""A server that asks to wait longer is told about instead."""
LARGEST_BYTES = 16 * 1024 * 1024
_PAGE = "{} is a web page, not a model server; a `base_url` usually ends in /v1"


@dataclass(frozen=True, slots=True)
class ApiKey:
    reveal: str = field(repr=False)


class Server:
    def __init__(
        self,
        base_url: str,
        api_key: ApiKey | None = None,
        *,
        stall_s: float = STALL_S,
        connect_s: float = CONNECT_S,
        tries: int = TRIES,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        clock: Clock | None = None,
    ) -> None:
        self.base_url = base_url.rstrip("/")
        self.root = self.base_url.removesuffix("/v1")
        """Where llama-server and vLLM have what is not part of the common interface."""
        self._key, self._stall_s, self._connect_s = api_key, stall_s, connect_s
        self._tries, self._sleep, self._clock = tries, sleep, clock or WallClock()
        self._session: aiohttp.ClientSession | None = None
        self._closed = False

    @property
    def has_key(self) -> bool:
        return self._key is not None

    async def json(self, method: str, url: str, body: Any = None) -> Any:
        """Raises ServerRefused and its relatives, EngineLost."""
        async with self.open(method, url, body, Asked(url, has_key=self.has_key)) as response:
            return await read_json(response)

    @asynccontextmanager
    async def open(
        self, method: str, url: str, body: Any, asked: Asked
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """A response with status 200. Leaving in the middle of it closes the connection."""
        response = await self._ask(method, url, body, asked)
        try:
            yield response
        except TimeoutError:
            raise EngineLost(
                f"{url} says nothing for {self._stall_s:g} s in the middle of an answer"
            ) from None
        except aiohttp.ClientError as fault:
            raise EngineLost(f"{url} broke off in the middle of an answer ({type(fault).__name__})") from None
        finally:
            response.close()

    async def aclose(self) -> None:
        self._closed = True
        if self._session is not None:
            await self._session.close()

    def without_key(self, text: str) -> str:
        """Some servers repeat the key in their refusal."""
        return text.replace(self._key.reveal, "…") if self._key else text

    async def _ask(self, method: str, url: str, body: Any, asked: Asked) -> aiohttp.ClientResponse:
        for tried in count(1):
            found = await self._try(method, url, body, asked)
            if isinstance(found, aiohttp.ClientResponse):
                return found
            if tried >= self._tries or found.wait_s is None:
                raise found.fault
            pause_s = max(found.wait_s, FIRST_PAUSE_S * 2.0 ** (tried - 1))
            if pause_s > LONGEST_PAUSE_S:
                raise found.fault
            # Spread out: what was refused together would come again together.
            await self._sleep(pause_s * random.uniform(1.0, 1.5))  # noqa: S311
        raise EngineLost(f"{url} was never asked")

    async def _try(self, method: str, url: str, body: Any, asked: Asked) -> aiohttp.ClientResponse | _Failed:
        try:
            response = await self._open_session().request(
                method, url, json=body, headers=self._headers(), allow_redirects=False
            )
        except aiohttp.ConnectionTimeoutError:
            return _Failed(EngineLost(f"{url} cannot be reached within {self._connect_s:g} s"), 0.0)
        except TimeoutError:
            return _Failed(EngineLost(f"{url} says nothing for {self._stall_s:g} s"), None)
        except aiohttp.ClientConnectionError as fault:
            why = str(fault) or type(fault).__name__
            return _Failed(EngineLost(f"{url} cannot be reached: {why}"), 0.0)
        except aiohttp.ClientError as fault:
            return _Failed(EngineLost(f"{url} does not speak HTTP ({type(fault).__name__})"), None)
        return response if response.status == 200 else await self._refused(response, asked)

    async def _refused(self, response: aiohttp.ClientResponse, asked: Asked) -> _Failed:
        status = response.status
        try:
            text = self.without_key((await read(response)).decode("utf-8", "replace"))
        except (TimeoutError, aiohttp.ClientError, EngineLost):
            text = ""
        finally:
            response.close()
        if 300 <= status < 400:
            where = response.headers.get("Location", "elsewhere")
            return _Failed(
                ServerRefused(f"{asked.url} leads to {where}: write that `base_url`", status), None
            )
        fault = refusal(status, text, asked)
        again = (status == 429 or (status >= 500 and status != 501)) and isinstance(fault, ServerRefused)
        return _Failed(fault, self._retry_after(response) if again else None)

    def _retry_after(self, response: aiohttp.ClientResponse) -> float:
        """Seconds or a date; what cannot be read is as if it were not there."""
        written = response.headers.get("Retry-After", "")
        try:
            if re.fullmatch(r"\d{1,9}(\.\d*)?", written):
                return float(written)
            return max(0.0, parsedate_to_datetime(written).timestamp() - self._clock.now())
        except ValueError:
            return 0.0

    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._key.reveal}"} if self._key else {}

    def _open_session(self) -> aiohttp.ClientSession:
        if self._closed:
            raise EngineLost(f"the engine of {self.base_url} is closed")
        if self._session is None:
            patience = aiohttp.ClientTimeout(
                total=None, sock_connect=self._connect_s, sock_read=self._stall_s
            )
            # The scheduler bounds how many run side by side.
            self._session = aiohttp.ClientSession(
                timeout=patience, connector=aiohttp.TCPConnector(limit=0), trust_env=False
            )
        return self._session


@dataclass(frozen=True, slots=True)
class _Failed:
    fault: EngineError
    wait_s: float | None
    """At least so long before the next try; None when trying again is no use."""


async def read(response: aiohttp.ClientResponse) -> bytes:
    """Raises EngineLost for what is larger than any answer."""
    body = bytearray()
    async for chunk in response.content.iter_any():
        body += chunk
        if len(body) > LARGEST_BYTES:
            raise EngineLost(f"{response.url} sent more than {LARGEST_BYTES} bytes")
    return bytes(body)


async def no_answer(response: aiohttp.ClientResponse) -> EngineLost:
    """For what came instead of one."""
    text = (await read(response)).decode("utf-8", "replace")
    return EngineLost(
        _PAGE.format(response.url) if is_page(text) else f"{response.url} sent {response.content_type}"
    )


async def read_json(response: aiohttp.ClientResponse) -> Any:
    text = (await read(response)).decode("utf-8", "replace")
    if is_page(text):
        raise EngineLost(_PAGE.format(response.url))
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise EngineLost(f"{response.url} sent what is not JSON: {text[:80]!r}") from None

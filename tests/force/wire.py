"""A plain websocket client that knows nothing of ours: it posts inputs and reads back what a relay holds."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from types import TracebackType
from typing import Any, Self

import aiohttp
from nostr_sdk import Event as SdkEvent

ANSWER_S = 20.0


class Wire:
    def __init__(self, url: str) -> None:
        self._url = url
        self._asked = 0

    async def __aenter__(self) -> Self:
        self._http = aiohttp.ClientSession()
        self._socket = await self._http.ws_connect(self._url, max_msg_size=0)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._socket.close()
        await self._http.close()

    async def post(self, event: SdkEvent) -> None:
        await self._socket.send_str(json.dumps(["EVENT", json.loads(event.as_json())]))
        answer = await self._hear()
        assert answer[0] == "OK", answer
        assert answer[2] is True, answer

    async def flood(self, events: Sequence[SdkEvent]) -> None:
        """As fast as the relay reads, its answers heard meanwhile."""
        frames = [json.dumps(["EVENT", json.loads(event.as_json())]) for event in events]

        async def send() -> None:
            for frame in frames:
                await self._socket.send_str(frame)

        sending = asyncio.create_task(send())
        for _ in frames:
            answer = await self._hear()
            assert answer[0] == "OK" and answer[2] is True, answer
        await sending

    async def by(self, authors: Sequence[str]) -> dict[str, dict[str, Any]]:
        """Every kind 1 and 42 of these people by id, signatures checked."""
        found: dict[str, dict[str, Any]] = {}
        until: int | None = None
        while True:
            wanted = {"kinds": [1, 42], "authors": list(authors)} | ({"until": until} if until else {})
            page = await self._page(wanted)
            new = {event["id"]: event for event in page if event["id"] not in found}
            if not new:
                return found
            found |= new
            until = min(event["created_at"] for event in page)

    async def _page(self, wanted: dict[str, Any]) -> list[dict[str, Any]]:
        self._asked += 1
        name = f"read-{self._asked}"
        await self._socket.send_str(json.dumps(["REQ", name, wanted]))
        page: list[dict[str, Any]] = []
        while (said := await self._hear())[0] != "EOSE":
            if said[:2] == ["EVENT", name]:
                assert SdkEvent.from_json(json.dumps(said[2])).verify()
                page.append(said[2])
        await self._socket.send_str(json.dumps(["CLOSE", name]))
        return page

    async def _hear(self) -> list[Any]:
        while True:
            said = list(json.loads(await self._socket.receive_str(timeout=ANSWER_S)))
            if said[0] in ("OK", "EVENT", "EOSE"):
                return said
            assert said[0] != "CLOSED", said

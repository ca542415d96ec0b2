"""A question to a running host: heard as it is answered; to be cancelled is to hang up."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp

from uniun_bots.chat.answer import Answer
from uniun_bots.chat.question import Question
from uniun_bots.chat.telling import Tell
from uniun_bots.errors import HostLost, NoHost, UniunError
from uniun_bots.host.chat.events import (
    ANSWER,
    FAULT,
    HAPPENS,
    Event,
    answer_from_json,
    happening_from_json,
    question_as_json,
)
from uniun_bots.host.control.ask import control_socket, once_it_is_up

LOST = "the host ended in the middle of the answer; the question is kept, ask it again"


async def ask_through_host(data_dir: Path, question: Question, tell: Tell) -> Answer:
    """Raises NoHost before anything was asked, HostLost after that, and UniunError with what the host says."""
    return await once_it_is_up(data_dir, lambda: _ask(data_dir, question, tell))


async def _ask(data_dir: Path, question: Question, tell: Tell) -> Answer:
    connector = aiohttp.UnixConnector(path=str(control_socket(data_dir)))
    async with aiohttp.ClientSession(connector=connector) as session:
        try:
            response = await session.post(
                "http://host/chat",
                json=question_as_json(question),
                timeout=aiohttp.ClientTimeout(total=None, sock_read=None),
            )
        except aiohttp.ClientConnectorError as fault:
            raise NoHost(f"no host answers on {data_dir}: {fault}") from fault
        except aiohttp.ClientConnectionError as fault:
            raise HostLost(LOST) from fault
        async with response:
            if response.status >= 400:
                raise UniunError((await response.json(content_type=None))["error"])
            return await _hear(response, tell)


async def _hear(response: aiohttp.ClientResponse, tell: Tell) -> Answer:
    try:
        async for event in _events(response):
            if event[HAPPENS] == ANSWER:
                return answer_from_json(event)
            if event[HAPPENS] == FAULT:
                raise UniunError(event["error"])
            tell(happening_from_json(event))
    except aiohttp.ClientError as fault:
        raise HostLost(LOST) from fault
    raise HostLost(LOST)


async def _events(response: aiohttp.ClientResponse) -> AsyncIterator[Event]:
    rest = b""
    async for chunk in response.content.iter_any():
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            yield json.loads(line)

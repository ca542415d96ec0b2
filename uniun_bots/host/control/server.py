"""The control socket: how other commands speak to a running host. HTTP over a Unix socket, for its owner only.

Socket paths are limited to about 100 bytes, so it lies in the runtime directory; the data folder notes where.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import TracebackType
from typing import Self

from aiohttp import web

from uniun_bots.chat.records import forget
from uniun_bots.errors import ConfigError, NotFound, UniunError
from uniun_bots.host import actions
from uniun_bots.host.chat.streams import ChatStreams
from uniun_bots.host.control.ask import NOTE, socket_path
from uniun_bots.host.control.importing import take_batch
from uniun_bots.host.control.models import use_model
from uniun_bots.host.control.retract import retract
from uniun_bots.host.control.shelf import shelve_in_host
from uniun_bots.host.control.snapshot import snapshot
from uniun_bots.host.desk import decide
from uniun_bots.host.doctor import as_json, examine
from uniun_bots.host.probing import carry_out
from uniun_bots.host.running import Running
from uniun_bots.host.searching import find_notes

LARGEST_BYTES = 32_000_000
"""Of one request: a batch of an import."""


class ControlServer:
    def __init__(self, host: Running) -> None:
        self._host = host
        self._path = socket_path(host.project.data_dir)
        self._chats = ChatStreams(host)

    async def __aenter__(self) -> Self:
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        _refuse_strangers(self._path.parent)
        self._path.unlink(missing_ok=True)
        app = web.Application(middlewares=[_tell_errors], client_max_size=LARGEST_BYTES)
        app.add_routes(
            [
                web.get("/status", self._status),
                web.post("/pause", self._pause),
                web.post("/resume", self._resume),
                web.post("/reload", self._reload),
                web.post("/retry", self._retry),
                web.post("/retract", self._retract),
                web.post("/model", self._model),
                web.post("/notes/import", self._import),
                web.post("/manas", self._manas),
                web.post("/notes/search", self._search),
                web.post("/doctor", self._doctor),
                web.post("/approvals/{word}", self._approve),
                web.post("/probes", self._probes),
                web.post("/skills/{word}", self._shelve),
                web.post("/chat", self._chats.answer),
                web.post("/chat/forget", self._forget),
            ]
        )
        self._runner = web.AppRunner(app, access_log=None)
        await self._runner.setup()
        before = os.umask(0o177)
        try:
            await web.UnixSite(self._runner, str(self._path)).start()
        finally:
            os.umask(before)
        (self._host.project.data_dir / NOTE).write_text(str(self._path))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._chats.aclose()
        await self._runner.cleanup()
        self._path.unlink(missing_ok=True)
        (self._host.project.data_dir / NOTE).unlink(missing_ok=True)

    async def _status(self, request: web.Request) -> web.Response:
        return web.json_response(await snapshot(self._host))

    async def _pause(self, request: web.Request) -> web.Response:
        asked = await request.json()
        await self._host.store.write(lambda tx: actions.pause(tx, asked["ganas"], asked["why"]))
        return web.json_response({})

    async def _resume(self, request: web.Request) -> web.Response:
        asked = await request.json()
        await self._host.store.write(lambda tx: actions.resume(tx, asked["ganas"]))
        await self._host.wake_pending(tuple(asked["ganas"]))
        return web.json_response({})

    async def _reload(self, request: web.Request) -> web.Response:
        asked = await request.json()
        await self._host.reload(tuple(asked.get("catch_up", ())), tuple(asked.get("rearm", ())))
        return web.json_response({})

    async def _retry(self, request: web.Request) -> web.Response:
        asked = await request.json()
        gana = await self._host.store.write(lambda tx: actions.retry(tx, asked["run"]))
        await self._host.wake_pending((gana,))
        return web.json_response({"gana": gana})

    async def _retract(self, request: web.Request) -> web.Response:
        asked = await request.json()
        event_id = await retract(self._host.house, asked["run"], asked.get("reason", ""))
        return web.json_response({"event_id": event_id})

    async def _model(self, request: web.Request) -> web.Response:
        asked = await request.json()
        info = await use_model(self._host, asked["model"], now=bool(asked["now"]))
        return web.json_response({"model": info.model, "context_tokens": info.context_tokens})

    async def _manas(self, request: web.Request) -> web.Response:
        await self._host.house.librarian.bring(self._host.project)
        return web.json_response({})

    async def _import(self, request: web.Request) -> web.Response:
        return web.json_response(await take_batch(self._host.house, await request.json()))

    async def _search(self, request: web.Request) -> web.Response:
        house = self._host.house
        return web.json_response(await find_notes(house.store, house.vectors, await request.json()))

    async def _doctor(self, request: web.Request) -> web.Response:
        asked = await request.json()
        told = await examine(self._host.store, fix=bool(asked["fix"]))
        return web.json_response(as_json(told))

    async def _approve(self, request: web.Request) -> web.Response:
        asked = await request.json()
        settled = await decide(
            self._host.desk(), request.match_info["word"], asked["number"], asked.get("text", "")
        )
        return web.json_response(settled.told())

    async def _probes(self, request: web.Request) -> web.Response:
        asked, now = await request.json(), self._host.clock.now()
        await self._host.store.write(lambda tx: carry_out(tx, asked, now))
        return web.json_response({})

    async def _shelve(self, request: web.Request) -> web.Response:
        done = await shelve_in_host(self._host, request.match_info["word"], await request.json())
        return web.json_response(done)

    async def _forget(self, request: web.Request) -> web.Response:
        asked = await request.json()
        await self._host.store.write(lambda tx: forget(tx, asked["conversation"]))
        return web.json_response({})


@web.middleware
async def _tell_errors(
    request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
) -> web.StreamResponse:
    try:
        return await handler(request)
    except ConfigError as fault:
        return web.json_response({"error": str(fault), "config": True}, status=422)
    except NotFound as fault:
        return web.json_response({"error": str(fault)}, status=404)
    except UniunError as fault:
        return web.json_response({"error": str(fault)}, status=409)
    except web.HTTPException as refused:
        return web.json_response({"error": f"{request.path}: {refused.reason}"}, status=refused.status)
    except (KeyError, TypeError, ValueError) as fault:
        return web.json_response({"error": f"{request.path} cannot be read: {fault!r}"}, status=400)


def _refuse_strangers(folder: Path) -> None:
    """In a shared temporary directory somebody else could have made the folder first."""
    found = folder.lstat()
    if found.st_uid != os.getuid() or found.st_mode & 0o077 or not stat.S_ISDIR(found.st_mode):
        raise UniunError(f"{folder} belongs to somebody else or is open to others: remove it")

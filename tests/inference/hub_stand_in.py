"""A small Hugging Face Hub: files with checksums, ranges, an index, and whatever goes wrong."""

from __future__ import annotations

import hashlib
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiohttp import web
from aiohttp.test_utils import TestServer

from tests.inference.gguf_file import gguf

COMMIT = "a" * 40


def model_bytes(size: int = 60_000, seed: int = 1) -> bytes:
    """A header without tensors, and whatever comes behind it."""
    header = gguf(shapes=())
    return header + random.Random(seed).randbytes(size - len(header))


class Hub:
    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        """`OWNER/REPO/FILE` to content."""
        self.checksums: dict[str, str] = {}
        """Told instead of the true ones."""
        self.gated: set[str] = set()
        self.breaks_after: int | None = None
        """Of the next download, so many bytes come and then the connection is gone."""
        self.knows_ranges = True
        self.ranges: list[str | None] = []
        """What each download asked for."""
        self.tokens: list[str | None] = []
        self.url = ""

    async def answer(self, request: web.Request) -> web.StreamResponse:
        self.tokens.append(request.headers.get("Authorization"))
        path = request.path.lstrip("/")
        if path.startswith("api/models/"):
            return self._index(path.removeprefix("api/models/"))
        if path.startswith("store/"):
            return await self._download(request, self.files[path.removeprefix("store/")])
        repo, _, file = path.partition("/resolve/main/")
        return self._head(repo, file)

    def _head(self, repo: str, file: str) -> web.Response:
        if not any(name.startswith(f"{repo}/") for name in self.files):
            return web.Response(status=401, headers={"X-Error-Code": "RepoNotFound"})
        if repo in self.gated:
            return web.Response(status=403, headers={"X-Error-Code": "GatedRepo"})
        content = self.files.get(name := f"{repo}/{file}")
        if content is None:
            return web.Response(status=404, headers={"X-Error-Code": "EntryNotFound"})
        told = self.checksums.get(name, hashlib.sha256(content).hexdigest())
        headers = {
            "X-Repo-Commit": COMMIT,
            "X-Linked-Etag": f'"{told}"',
            "X-Linked-Size": str(len(content)),
            "Location": f"{self.url.replace('127.0.0.1', 'localhost')}/store/{name}",
        }
        return web.Response(status=302, headers=headers)

    async def _download(self, request: web.Request, content: bytes) -> web.StreamResponse:
        wanted = request.headers.get("Range")
        self.ranges.append(wanted)
        start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted and self.knows_ranges else 0
        response = web.StreamResponse(status=206 if start else 200)
        response.content_length = len(content) - start
        if start:
            response.headers["Content-Range"] = f"bytes {start}-{len(content) - 1}/{len(content)}"
        await response.prepare(request)
        if self.breaks_after is None:
            await response.write(content[start:])
            return response
        await response.write(content[start : start + self.breaks_after])
        self.breaks_after = None
        if request.transport:
            request.transport.close()
        return response

    def _index(self, rest: str) -> web.Response:
        repo = rest.partition("/tree/")[0]
        names = [name.removeprefix(f"{repo}/") for name in self.files if name.startswith(f"{repo}/")]
        return web.json_response([{"type": "file", "path": name, "size": 1, "oid": COMMIT} for name in names])


@asynccontextmanager
async def hub_stand_in() -> AsyncIterator[Hub]:
    hub = Hub()
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", hub.answer)
    server = TestServer(app)
    await server.start_server(shutdown_timeout=0.1)
    hub.url = str(server.make_url("")).rstrip("/")
    try:
        yield hub
    finally:
        await server.close()

from __future__ import annotations

import json

import pytest
from aiohttp import web

from uniun_bots.clock import WallClock
from uniun_bots.relays.information import Information, Informer, read_information
from uniun_bots.relays.local import LocalRelay, free_port

DOCUMENT = {
    "name": "a relay",
    "supported_nips": [1, 11, "77", True, 77],
    "limitation": {"min_pow_difficulty": 8, "auth_required": True, "max_limit": "many"},
}


@pytest.mark.parametrize(
    "body",
    [b"", b"<html>", b"[]", b"null", b"[" * 5000, b'{"limitation": []}', b'{"name": 5, "supported_nips": 7}'],
)
def test_what_is_no_document_tells_nothing(body: bytes) -> None:
    assert read_information(body) in (None, Information())


def test_fields_of_a_wrong_type_count_as_not_given() -> None:
    found = read_information(json.dumps(DOCUMENT).encode())
    assert found == Information(
        name="a relay", nips=frozenset({1, 11, 77}), min_pow_difficulty=8, auth_required=True
    )


async def test_a_relay_is_asked_once_and_its_word_kept() -> None:
    asked = 0

    async def tell(request: web.Request) -> web.Response:
        nonlocal asked
        asked += 1
        assert request.headers["Accept"] == "application/nostr+json"
        return web.json_response(DOCUMENT, content_type="application/nostr+json")

    app = web.Application()
    app.router.add_get("/", tell)
    runner = web.AppRunner(app)
    await runner.setup()
    port = free_port()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    async with Informer(WallClock(), proxied=False) as informer:
        first = await informer.ask(f"ws://127.0.0.1:{port}")
        assert first is not None and first.min_pow_difficulty == 8
        assert await informer.ask(f"ws://127.0.0.1:{port}") is first
    async with Informer(WallClock(), proxied=True) as silent:
        assert await silent.ask(f"ws://127.0.0.1:{port}") is None
    assert asked == 1
    await runner.cleanup()


async def test_a_relay_that_is_away_or_has_no_document_tells_nothing(relay: LocalRelay) -> None:
    async with Informer(WallClock(), proxied=False) as informer:
        assert await informer.ask(f"ws://127.0.0.1:{free_port()}") is None
        await informer.ask(relay.url)

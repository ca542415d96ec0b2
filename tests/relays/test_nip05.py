"""NIP-05: a domain's word for a key, asked of the public internet alone."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import AsyncIterator, Callable

import pytest
from aiohttp import web
from aiohttp.abc import AbstractResolver, ResolveResult

from tests.factory import ALICE, BOB
from uniun_bots.relays.local import free_port
from uniun_bots.relays.nip05 import LARGEST_BYTES, Nip05, Nip05Name, PublicResolver, Standing, read_name

ADA = Nip05Name("ada", "tides.example")


class Fixed(AbstractResolver):
    """Every name leads to these addresses."""

    def __init__(self, *addresses: str) -> None:
        self.addresses = addresses

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        return [
            ResolveResult(
                hostname=host,
                host=address,
                port=port,
                family=socket.AF_INET6 if ":" in address else socket.AF_INET,
                proto=0,
                flags=socket.AI_NUMERICHOST,
            )
            for address in self.addresses
        ]

    async def close(self) -> None:
        """Nothing to close."""


@contextlib.asynccontextmanager
async def domain(answer: Callable[[web.Request], web.StreamResponse]) -> AsyncIterator[Nip05]:
    """tides.example as a server of this machine."""

    async def tell(request: web.Request) -> web.StreamResponse:
        return answer(request)

    async def elsewhere(_: web.Request) -> web.StreamResponse:
        return web.json_response({"names": {"ada": ALICE}})

    app = web.Application()
    app.router.add_get("/.well-known/nostr.json", tell)
    app.router.add_get("/elsewhere", elsewhere)
    runner = web.AppRunner(app)
    await runner.setup()
    port = free_port()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    base = f"http://{{domain}}:{port}"
    async with Nip05(proxied=False, resolver=Fixed("127.0.0.1"), base=base) as names:
        yield names
    await runner.cleanup()


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("ada@tides.example", ADA),
        (" Ada@Tides.Example ", ADA),
        ("_@tides.example", Nip05Name("_", "tides.example")),
        ("tides.example", Nip05Name("_", "tides.example")),
        ("ada@xn--tdes-7qa.example", Nip05Name("ada", "xn--tdes-7qa.example")),
    ],
)
def test_a_name_is_read(written: str, name: Nip05Name) -> None:
    assert read_name(written) == name


def test_the_name_of_the_domain_itself_is_told_without_the_sign() -> None:
    assert str(Nip05Name("_", "tides.example")) == "tides.example"
    assert str(ADA) == "ada@tides.example"


@pytest.mark.parametrize(
    "written",
    [
        *("", "ada", "ada@", "@tides.example", "ada@localhost", "ada@127.0.0.1", "ada@[::1]", "ada@0x7f.1"),
        *("ada@tides.example/x", "ada@tides.example:8080", "ada@evil.example#tides.example", "a b@c.example"),
        *("ada@tides..example", "ada@-a.example", "ada@" + "a." * 130 + "example", "\u0430da@tides.example"),
        *("ada@tid\u0435s.example", "ada@user@tides.example", "ada@2130706433"),
    ],
)
def test_what_is_no_name_or_an_address_of_a_host_is_not_asked(written: str) -> None:
    assert read_name(written) is None


@pytest.mark.parametrize(
    ("names", "standing"),
    [
        ({"ada": ALICE}, Standing.CONFIRMED),
        ({"ada": BOB}, Standing.DENIED),
        ({"ada": ALICE.upper()}, Standing.DENIED),
        ({"bob": ALICE}, Standing.DENIED),
        ({"ada": [ALICE]}, Standing.DENIED),
        ([ALICE], Standing.UNKNOWN),
        (None, Standing.UNKNOWN),
    ],
)
async def test_the_domain_decides(names: object, standing: Standing) -> None:
    asked: list[str] = []

    def answer(request: web.Request) -> web.Response:
        asked.append(request.query["name"])
        return web.json_response({"names": names})

    async with domain(answer) as names_of:
        assert await names_of.standing(ADA, ALICE) is standing
    assert asked == ["ada"]


def redirected(_: web.Request) -> web.Response:
    return web.Response(status=302, headers={"Location": "/elsewhere"})


@pytest.mark.parametrize(
    "answer",
    [
        redirected,
        lambda _: web.Response(status=500),
        lambda _: web.Response(body=b"<html>"),
        lambda _: web.Response(body=b"[" * 50_000),
        lambda _: web.Response(body=b'{"names":{"ada":"' + ALICE.encode() + b'"}}' + b" " * LARGEST_BYTES),
    ],
)
async def test_redirects_floods_and_nonsense_confirm_nothing(
    answer: Callable[[web.Request], web.Response],
) -> None:
    async with domain(answer) as names:
        assert await names.standing(ADA, ALICE) is Standing.UNKNOWN


@pytest.mark.parametrize(
    "address", ["127.0.0.1", "10.0.0.7", "169.254.169.254", "::1", "fd00::1", "::ffff:127.0.0.1"]
)
async def test_a_domain_in_our_own_network_is_not_asked(address: str) -> None:
    resolver = PublicResolver(Fixed("93.184.216.34", address))
    with pytest.raises(OSError, match="public internet"):
        await resolver.resolve("tides.example")
    async with Nip05(proxied=False, resolver=resolver) as names:
        assert await names.standing(ADA, ALICE) is Standing.UNKNOWN


async def test_a_public_domain_is_found() -> None:
    found = await PublicResolver(Fixed("93.184.216.34")).resolve("tides.example")
    assert [one["host"] for one in found] == ["93.184.216.34"]


async def test_behind_a_proxy_nothing_is_asked() -> None:
    async with Nip05(proxied=True, resolver=Fixed()) as names:
        assert await names.standing(ADA, ALICE) is Standing.UNKNOWN

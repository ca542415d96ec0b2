from __future__ import annotations

import pytest

from uniun_bots.relays.hints import MOST_HINTS, public_hints

NAMES = {
    "relay.example": ["93.184.216.34", "2606:2800:220:1:248:1893:25c8:1946"],
    "sneaky.example": ["93.184.216.34", "169.254.169.254"],
    "mapped.example": ["::ffff:10.0.0.5"],
    "none.example": [],
}


async def resolve(host: str, _port: int) -> list[str]:
    if host.strip("[]").replace(".", "").replace(":", "").isalnum() and host not in NAMES:
        return [host.strip("[]")]
    return NAMES[host]


@pytest.mark.parametrize(
    "hint",
    [
        "ws://127.0.0.1:6379",
        "wss://169.254.169.254/latest",
        "wss://[::1]/",
        "http://10.0.0.5/",
        "wss://10.0.0.5",
        "wss://192.168.1.1:8443",
        "wss://100.64.0.1",
        "wss://0.0.0.0",
        "wss://224.0.0.1",
        "wss://[fd00::1]",
        "wss://[fe80::1]",
        "wss://[::ffff:127.0.0.1]",
        "wss://[2002:7f00:1::]",
        "wss://sneaky.example",
        "wss://mapped.example",
        "wss://none.example",
        "wss://user:pass@relay.example",
        "ws://relay.example",
        "relay.example",
        "wss://",
        "",
        "\x00",
    ],
)
async def test_a_hint_that_leads_anywhere_but_the_public_internet_is_not_followed(hint: str) -> None:
    """A50: hints pointed servers at loopback, private and cloud metadata addresses."""
    assert await public_hints([hint], resolve) == []


async def test_public_hints_are_followed_once_and_few() -> None:
    hints = [f"wss://relay.example/{n}" for n in range(20)]
    assert await public_hints(["wss://RELAY.example", "wss://relay.example/", *hints], resolve) == [
        "wss://relay.example",
        *hints[: MOST_HINTS - 1],
    ]


async def test_a_name_that_does_not_resolve_is_no_error() -> None:
    async def fail(_host: str, _port: int) -> list[str]:
        raise OSError("Name or service not known")

    assert await public_hints(["wss://gone.example"], fail) == []

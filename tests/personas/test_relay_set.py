from __future__ import annotations

from pathlib import Path

import pytest

from uniun_bots.personas.load_relay_set import bundled_relay_sets, load_relay_set
from uniun_bots.personas.relay_set import relay_url


def told(folder: Path, text: str, name: str = "mine.yaml") -> list[str]:
    (folder / name).write_text(text)
    return [f"{f.line}:{f.column} {f.message}" for f in sorted(load_relay_set(folder / name).faults)]


def test_a_relay_is_an_address_or_an_address_with_settings(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(
        "relays:\n  - wss://A.example/\n"
        "  - {url: 'ws://127.0.0.1:7777', write: false, auth: true, pow: 20, pace: 30}\n"
    )
    found = load_relay_set(path).value
    assert found is not None
    assert found.name == "mine"
    first, second = found.relays
    assert (first.url, first.read, first.write, first.auth, first.pow, first.pace) == (
        "wss://a.example", True, True, False, None, None
    )  # fmt: skip
    assert (second.url, second.write, second.auth, second.pow, second.pace) == (
        "ws://127.0.0.1:7777", False, True, 20, 30
    )  # fmt: skip


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("wss://Relay.Example", "wss://relay.example"),
        ("wss://relay.example/", "wss://relay.example"),
        ("wss://relay.example:443", "wss://relay.example"),
        ("wss://relay.example/inbox", "wss://relay.example/inbox"),
        ("ws://[::1]:7777/", "ws://[::1]:7777"),
    ],
)
def test_one_relay_has_one_spelling(written: str, read: str) -> None:
    assert relay_url(written) == read


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "1:1 `relays` is missing: write `relays:` and below it `  - wss://relay.example`"),
        ("- wss://a.example", "1:1 must be a mapping (lines of `key: value`), not a list"),
        ("relays: []", "1:9 `relays` is empty: at least 1 of its relays must be given"),
        ("relays: wss://a.example", "1:9 `relays` must be a list of relays"),
        (
            "relays: [https://a.example]",
            "1:10 `relays` entry 1 `url` must be a websocket address: write wss://",
        ),
        ("relays: ['http://a']", "1:10 `relays` entry 1 `url` must be a websocket address: write ws://"),
        ("relays: [a.example]", "1:10 `relays` entry 1 `url` must be a relay address such as"),
        ("relays: ['wss://me:word@a']", "1:10 `relays` entry 1 `url` must be a relay address such as"),
        (
            "relays: ['wss://a', 'wss://b', 'wss://A/']",
            "1:32 `relays` entries 1 and 3 are the same relay: keep one",
        ),
        (
            "relays: [{url: 'ws://a', read: false, write: false}]",
            "1:10 `relays` entry 1 is neither read nor written: remove it, or one of the two `false`",
        ),
        ("relays: ['wss://']", "1:10 `relays` entry 1 `url` must be a relay address such as"),
        ("relays: [{read: true}]", "1:10 `relays` entry 1 `url` is missing"),
        (
            "relays: [{url: 'ws://a', rad: true}]",
            "1:26 unknown key `rad` in `relays` entry 1 (did you mean `read`?)",
        ),
        (
            "relays: [{url: 'ws://a', read: yes}]",
            "1:32 `relays` entry 1 `read` must be true or false, not `yes`",
        ),
        ("name: x\nrelays: ['ws://a']", "1:1 unknown key `name`: the file's name is the name of the set"),
    ],
)
def test_a_fault_in_a_relay_set_is_told_in_its_place(tmp_path: Path, text: str, fault: str) -> None:
    (found,) = told(tmp_path, text)
    assert found.startswith(fault)


def test_the_sets_that_come_with_the_package_load() -> None:
    sets = bundled_relay_sets()
    assert {"local", "public"} <= set(sets)
    assert [relay.url for relay in sets["local"].relays] == ["ws://127.0.0.1:7777"]

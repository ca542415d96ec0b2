"""Whole journeys with nostr-tools as the person, on our local relay and on nostr-relay."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.host.stage import Stage, decided, fate_of
from tests.peers.peers import other_relay, person
from uniun_bots.clock import WallClock
from uniun_bots.nostr.read import read_event
from uniun_bots.personas.relay_set import RelayAddress
from uniun_bots.relays.gateway import Gateway
from uniun_bots.relays.local import LocalRelay
from uniun_bots.relays.options import GatewayOptions

pytestmark = [pytest.mark.peer, pytest.mark.timeout(120)]


@contextlib.asynccontextmanager
async def running(which: str, folder: Path) -> AsyncIterator[str]:
    if which == "nostr-relay":
        async with other_relay(folder) as url:
            yield url
    else:
        async with LocalRelay() as relay:
            yield relay.url


@pytest.mark.parametrize("which", ["our local relay", "nostr-relay"])
async def test_nostr_tools_asks_and_gets_answers_it_can_verify_and_thread(which: str, tmp_path: Path) -> None:
    async with running(which, tmp_path / "relay") as url:
        founded = await person("found", url)
        async with Gateway(GatewayOptions(relays=(RelayAddress(url=url),)), WallClock()) as client:
            stage = stage_in(founded["group"], tmp_path / "bots", url, client)
            keys = {"inGroup": stage.bots["tide"].public_key, "mentioned": stage.bots["calm"].public_key}
            async with stage.host() as host:
                talk = await person("converse", url, founded | keys)
                asked = [read_event(as_bytes(one["asked"])) for one in talk]
                await decided(host, *asked)
                fates = [await fate_of(host, one, "tide" if one.kind == 42 else "calm") for one in asked]
            said = [*await stage.said("tide"), *await stage.said("calm")]
        assert fates == ["succeeded"] * 4
        assert sorted(one.id for one in said) == sorted(one["reply"]["id"] for one in talk)
        check_threads(founded["group"], keys, *talk)


def stage_in(group: str, folder: Path, url: str, client: Gateway) -> Stage:
    stage = Stage(folder, url, client)
    stage.persona("tide", input=f"{{type: group, ref: {group}}}")
    stage.persona("calm", input="{type: mentions}", output="{type: feed, reply: true}")
    return stage


def as_bytes(event: dict[str, Any]) -> bytes:
    return json.dumps(event).encode()


def check_threads(
    group: str,
    keys: dict[str, str],
    first: dict[str, Any],
    second: dict[str, Any],
    mention: dict[str, Any],
    further: dict[str, Any],
) -> None:
    """As nostr-tools reads them (NIP-10): what each reply stands under, what it answers, who is told."""
    for one, kind, whose in (
        (first, 42, "inGroup"),
        (second, 42, "inGroup"),
        (mention, 1, "mentioned"),
        (further, 1, "mentioned"),
    ):
        assert (one["reply"]["kind"], one["reply"]["pubkey"]) == (kind, keys[whose])
        assert one["asked"]["pubkey"] in {person["pubkey"] for person in one["thread"]["profiles"]}
        assert keys[whose] not in {person["pubkey"] for person in one["thread"]["profiles"]}
    assert [pointer_ids(one) for one in (first, second)] == [
        (group, first["asked"]["id"]),
        (group, second["asked"]["id"]),
    ]
    assert pointer_ids(mention)[0] == mention["asked"]["id"]
    assert pointer_ids(further) == (mention["asked"]["id"], further["asked"]["id"])


def pointer_ids(one: dict[str, Any]) -> tuple[str | None, str | None]:
    """Root and reply."""
    root, reply = (one["thread"].get(name) or {} for name in ("root", "reply"))
    return root.get("id"), reply.get("id")


@pytest.mark.parametrize(("ci", "code"), [("true", 1), ("", 0)])
def test_with_ci_a_skipped_peer_test_is_a_failure(tmp_path: Path, ci: str, code: int) -> None:
    (tmp_path / "conftest.py").write_text((Path(__file__).parent / "conftest.py").read_text())
    (tmp_path / "test_one.py").write_text("import pytest\n\n\ndef test_it():\n    pytest.skip('not here')\n")
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)],
        env=os.environ | {"CI": ci},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == code, ran.stdout
    assert ("CI=true, and it was skipped" in ran.stdout) is bool(ci)

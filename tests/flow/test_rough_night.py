"""`uniun-bots relay --faults SCRIPT`, as somebody would use it to see what a persona makes of a bad relay."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.flow.storm import HASTY
from tests.force.nursery import Child, Nursery
from tests.host.stage import GROUP, Stage, decided, fate_of
from uniun_bots.clock import WallClock
from uniun_bots.nostr.event import Draft, Event
from uniun_bots.nostr.secret import new_secret
from uniun_bots.nostr.signer import LocalSigner
from uniun_bots.personas.relay_set import RelayAddress
from uniun_bots.relays.gateway import Gateway
from uniun_bots.relays.options import GatewayOptions

pytestmark = pytest.mark.force

SCRIPT = """\
seed: 7
steps:
  - {at: 0s, delay: 2ms, duplicate: 0.3}
  - {at: 1s, lose_live: 0.5, reorder: 3}
  - {at: 1500ms, cut: true}
  - {at: 2s, refuse_events: "rate-limited: slow down", refuse_share: 0.3}
  - {at: 2500ms, refuse: true}
  - {at: 3s}
"""
QUESTIONS = 30
NIGHT_S = 3.0


async def test_a_persona_survives_a_rough_night(tmp_path: Path, soon: None) -> None:
    script = tmp_path / "rough-night.yaml"
    script.write_text(SCRIPT)
    async with Nursery(tmp_path) as nursery:
        relay = await nursery.bear(["relay", "--port", "0", "--faults", str(script)], {})
        assert await relay.says("listening ")
        url = said(relay).split("listening ")[1].split()[0]
        assert "seed 7" in said(relay)
        async with Gateway(GatewayOptions(relays=(RelayAddress(url=url),)), WallClock()) as client:
            stage = Stage(tmp_path / "bots", url, client)
            stage.persona()
            async with stage.host(patience=HASTY) as host:
                asked = [await ask(stage, f"Question {number}?") for number in range(QUESTIONS)]
                await decided(host, *asked)
                replies = await stage.replies(QUESTIONS)
                assert [await fate_of(host, one) for one in asked] == ["succeeded"] * QUESTIONS
        assert {answered(reply) for reply in replies} == {one.id for one in asked}
        relay.signal(15)
        assert await relay.ended(5) and relay.code.result() == 0


async def ask(stage: Stage, text: str) -> Event:
    """By somebody new, spread over the night, sent until the relay says that it has it."""
    person = LocalSigner(new_secret())
    event = await person.sign(Draft(42, text, (("e", GROUP, "", "root"),), int(WallClock().now())))
    await asyncio.sleep(NIGHT_S / QUESTIONS)
    async with asyncio.timeout(20):
        while True:
            (receipt,) = await stage.client.send(event.raw, [stage.relay_url], person.public_key)
            if receipt.fate.delivered:
                return event
            await asyncio.sleep(0.05)


def said(child: Child) -> str:
    return child.said.read_text()


def answered(reply: Event) -> str:
    return next(tag[1] for tag in reply.tags if tag[0] == "e" and tag[3:4] == ("reply",))

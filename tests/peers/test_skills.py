"""Skills of ours verify in nostr-tools, and skills that nostr-tools signed are installed here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.peers.peers import script
from tests.sharing.samples import ADA, published, release
from tests.sharing.town import Town, town_with
from tests.skills.samples import skill_file
from uniun_bots.clock import WallClock
from uniun_bots.database.store import Store
from uniun_bots.sharing.candidate import look_up
from uniun_bots.sharing.event import hash_of
from uniun_bots.sharing.reference import spell_address, spell_event
from uniun_bots.sharing.take import parcel_of, take
from uniun_bots.skills.installed import installed_skills
from uniun_bots.skills.load_installed import verified_again

pytestmark = [pytest.mark.peer, pytest.mark.timeout(60)]
KEY = ADA.public_key
TEXT = skill_file(
    "knots", body='Tie a bowline: "the rabbit" \\ comes out 🐇 of the hole.\n\n\tOder zwei halbe Schläge.'
)


def tags(text: str) -> list[list[str]]:
    """As NIP-SKL has them, by somebody who never saw this program."""
    return [
        ["d", "knots"],
        ["name", "Knots for sailors"],
        ["version", "2.3.1"],
        ["description", "Which knot to tie"],
        ["manifest_hash", hash_of(text)],
        ["capability", "none"],
        ["expiry", str(int(WallClock().now()) + 86_400)],
        ["t", "agent-skill"],
        ["t", "sailing"],
    ]


async def talk(town: Town) -> tuple[list[Any], dict[str, Any]]:
    ours = list(await published(release(TEXT, name="knots", topics=("sea",))))
    given = {
        "events": [json.loads(event.raw) for event in ours],
        "references": [
            spell_event(ours[0].id, KEY, 33400, town.urls),
            spell_address(33400, KEY, "knots", town.urls),
        ],
        "tags": tags(TEXT),
        "text": TEXT,
    }
    found: dict[str, Any] = await script("skill.mjs", town.urls[0], given=given)
    return ours, found


async def test_skills_pass_between_nostr_tools_and_here(tmp_path: Path) -> None:
    async with town_with(1) as town, Store(tmp_path / "data.sqlite") as store:
        ours, found = await talk(town)
        assert found["checked"] == [True, True]
        event, address = (one["data"] for one in found["decoded"])
        assert (event["id"], event["author"], event["kind"]) == (ours[0].id, KEY, 33400)
        assert (address["identifier"], address["pubkey"], address["kind"]) == ("knots", KEY, 33400)
        assert event["relays"] == address["relays"] == list(town.urls)
        for reference in (found["naddr"], found["nevent"], found["made"]["id"]):
            candidate = await look_up(town.where, reference, WallClock().now())
            assert (candidate.name, candidate.text) == ("knots", TEXT)
        await take(store, parcel_of(candidate, hash_of(TEXT), "ada"), WallClock().now())
        (kept,) = await store.read(installed_skills)
        assert verified_again(kept).name == "knots" and kept.origin is not None
        assert (kept.origin.version, kept.origin.author) == ("2.3.1", found["made"]["pubkey"])

from __future__ import annotations

import json
from typing import Any

import pytest
from nostr_sdk import Event as SdkEvent

from tests.publishing.values import ALICE, BOB, GROUP, NOW, RELAYS, SIGNER, hosted, note, said, turn
from uniun_bots.nostr.reference import spell_npub
from uniun_bots.nostr.signer import difficulty_of
from uniun_bots.personas.hosted import HostedGana
from uniun_bots.publishing.pin import draft_reply, finish
from uniun_bots.publishing.pinned import Pinned

FEED = {"input": {"type": "mentions"}, "output": {"type": "feed", "reply": True}}


async def finished(body: str, gana: HostedGana | None = None, difficulty: int = 0, *cited: str) -> Pinned:
    question = note(7, root=GROUP)
    unsigned = draft_reply(gana or hosted(), turn(question), said(body, *cited))
    return await finish(unsigned, SIGNER, difficulty=difficulty, now=NOW + 0.9)


async def test_the_bytes_are_an_event_that_another_library_verifies() -> None:
    pinned = await finished("High water at noon. 12:00 — “満潮” \n ok")
    theirs = SdkEvent.from_json(pinned.event.raw.decode())
    assert theirs.verify()
    assert theirs.id().to_hex() == pinned.event.id
    assert theirs.content() == "High water at noon. 12:00 — “満潮” \n ok"


@pytest.mark.parametrize(("changes", "kind"), [({}, 42), (FEED, 1)])
async def test_kind_author_time_and_relays_come_from_the_persona_and_the_clock(
    changes: dict[str, Any], kind: int
) -> None:
    pinned = await finished(
        '{"kind": 0, "pubkey": "x", "created_at": 1, "tags": [["p", "x"]]} is what I say.', hosted(**changes)
    )
    event = pinned.event
    assert (event.kind, event.author, event.created_at) == (kind, SIGNER.public_key, NOW)
    assert event.tag_values("p") == [ALICE]
    assert pinned.relays == RELAYS


async def test_a_reply_answers_the_last_note_of_its_turn() -> None:
    notes = (note(7, root=GROUP), note(8, root=GROUP))
    pinned = await finish(draft_reply(hosted(), turn(*notes), said("Yes.")), SIGNER, difficulty=0, now=NOW)
    assert [tag for tag in pinned.event.tags if "reply" in tag] == [("e", notes[1].id, RELAYS[0], "reply")]


async def test_without_reply_a_message_stands_alone_in_its_group() -> None:
    alone = hosted(output={"type": "group", "ref": GROUP})
    assert (await finished("Good morning.", alone)).event.tags == (("e", GROUP, RELAYS[0], "root"),)


async def test_people_outside_the_turn_are_not_mentioned() -> None:
    stranger, asker = f"nostr:{spell_npub(BOB)}", f"nostr:{spell_npub(ALICE)}"
    content = (await finished(f"Ask {stranger}, dear {asker}.")).event.content
    assert stranger not in content and spell_npub(BOB) not in content
    assert asker in content


async def test_cited_notes_are_tagged_after_the_thread() -> None:
    pinned = await finished("See there.", None, 0, "33" * 32)
    assert pinned.event.tags[-1] == ("e", "33" * 32, RELAYS[0], "mention")


@pytest.mark.parametrize("difficulty", [0, 8, 12])
async def test_an_event_is_mined_to_the_difficulty_that_was_asked_for(difficulty: int) -> None:
    event = (await finished("High water at noon.", difficulty=difficulty)).event
    assert difficulty_of(event.id) >= difficulty
    nonces = [tag for tag in event.tags if tag[0] == "nonce"]
    assert [tag[2] for tag in nonces] == ([str(difficulty)] if difficulty else [])
    assert json.loads(event.raw)["tags"][0] == ["e", GROUP, RELAYS[0], "root"]

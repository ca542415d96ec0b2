from __future__ import annotations

from typing import Any

import pytest

from tests.factory import ALICE, NOW, gana, hosted, message
from tests.skills.scenes import Scene, scene
from uniun_bots.approvals.payload import Payload, Reminder, Share
from uniun_bots.approvals.queue import approvals
from uniun_bots.database.store import Store
from uniun_bots.personas.settings import HostSettings
from uniun_bots.skills.library import Library
from uniun_bots.skills.load_skills import predefined_skills

DEVICES: dict[str, Any] = {"skills": ["remind-me", "share-external"], "agentic": True}
CALLS: list[tuple[str, dict[str, Any], Payload]] = [
    ("remind-me", {"text": "look at the tide ", "in_minutes": 90}, Reminder("look at the tide", NOW + 5400)),
    ("share-external", {"text": "high water at nine"}, Share("high water at nine")),
]


async def asked(store: Store, **fields: Any) -> Scene:
    run = scene(store, hosted(gana(**(DEVICES | fields))))
    run.answering(*await run.hear(message("remind me")))
    return run


@pytest.mark.parametrize(("skill", "arguments", "payload"), CALLS)
async def test_a_device_skill_asks_a_person_and_does_nothing(
    store: Store, skill: str, arguments: dict[str, Any], payload: Payload
) -> None:
    run = await asked(store)
    told = await run.told(skill, **arguments)
    assert "not done yet" in told["asked"]
    (one,) = await store.read(approvals)
    turn = run.reach.turn
    assert turn is not None
    assert (one.gana, one.payload, one.key, one.answers, one.asker) == (
        run.hosted.id,
        payload,
        turn.key,
        turn.latest.id,
        ALICE,
    )


async def test_a_run_that_is_tried_again_asks_once(store: Store) -> None:
    run = await asked(store)
    for _ in range(2):
        await run.told("share-external", text="high water at nine")
    assert len(await store.read(approvals)) == 1


async def test_shadow_asks_nobody(store: Store) -> None:
    run = await asked(store, mode="shadow")
    assert "asked" in await run.told("remind-me", text="tide", in_minutes=1)
    assert await store.read(approvals) == []


async def test_a_device_skill_that_is_not_listed_cannot_be_called(store: Store) -> None:
    run = await asked(store, skills=[])
    assert run.registration.get("remind-me") is run.registration.get("share-external") is None


def test_what_a_device_skill_needs_is_told() -> None:
    library = Library(predefined_skills())
    bare = HostSettings()
    told = [message for _, message in library.complaints(gana(**DEVICES), bare)]
    assert "`owner: npub1…`" in told[0] and "`webhook: https://…`" in told[1]
    for_one_shot = gana(skills=DEVICES["skills"])
    assert all("agentic: true" in message for _, message in library.complaints(for_one_shot, bare))
    able = HostSettings.model_validate({"owner": ALICE, "webhook": "https://example.com/hook"})
    assert list(library.complaints(gana(**DEVICES), able)) == []

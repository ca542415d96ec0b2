"""Kind 0 and 10002: published only when the persona asks for it, merged, and never over a foreign event."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from tests.host.stage import Stage, profile, rows_of, until
from uniun_bots.clock import WallClock
from uniun_bots.host.host import Host
from uniun_bots.host.tending.profiles import profile_draft, relay_list_draft
from uniun_bots.nostr.event import Event
from uniun_bots.personas.gana import Profile
from uniun_bots.relays.local import LocalRelay, LocalRelayOptions, free_port


def said_in(event: Event) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(event.content)
    return found


async def published(stage: Stage, **wanted: str) -> dict[str, Any]:
    """The one kind 0 that the relay has, once it says this."""

    async def there() -> bool:
        found = await stage.said("tide", 0)
        return len(found) == 1 and said_in(found[0]).items() >= wanted.items()

    await until(there)
    (event,) = await stage.said("tide", 0)
    return said_in(event)


async def settled(host: Host) -> None:
    """Until profiles were looked at and what came of it was sent."""
    async with host.loops._herald:
        pass
    assert await host.idle(10)


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Relays that are away are not waited for."""
    monkeypatch.setattr("uniun_bots.host.running.CATCH_UP_S", 0.2)
    monkeypatch.setattr("uniun_bots.host.tending.profiles.READ_S", 0.5)


async def test_a_profile_says_that_this_is_a_bot(stage: Stage) -> None:
    stage.persona(profile="{name: Tide, about: I know the tide}")
    async with stage.host():
        assert await published(stage, name="Tide") == {
            "name": "Tide",
            "about": "I know the tide",
            "bot": True,
        }
        (relays,) = await stage.replies(1, "tide", 10002)
        assert relays.tags == (("r", stage.relay_url),)


@pytest.mark.parametrize("changes", [{}, {"profile": "{name: Tide}", "mode": "shadow"}])
async def test_without_a_profile_block_or_in_shadow_nothing_is_published(
    stage: Stage, changes: dict[str, Any]
) -> None:
    stage.persona(**changes)
    async with stage.host() as host:
        await asyncio.sleep(0)
        await settled(host)
    assert await stage.said("tide", 0, 10002) == []


async def test_a_profile_that_somebody_else_wrote_is_never_replaced(
    stage: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    stage.persona(profile="{name: Tide}")
    mine = await stage.post(0, profile(name="A person"), by=stage.bots["tide"])
    async with stage.host() as host:
        await stage.replies(1, "tide", 10002)
        await settled(host)
    assert [event.id for event in await stage.said("tide", 0)] == [mine.id]
    assert "kind 0 of tide was written by another client" in caplog.text


async def test_a_changed_profile_replaces_ours_and_is_later_even_within_one_second(stage: Stage) -> None:
    """A54"""
    stage.persona(profile="{name: Tide, about: one}")
    async with stage.host() as host:
        await published(stage, about="one")
        for about in ("two", "three"):
            stage.persona(profile=f"{{name: Tide, about: {about}}}")
            await host.reload()
            await published(stage, about=about)
        stamps = [json.loads(row["raw"])["created_at"] for row in await of_kind_0(host)]
    assert stamps == sorted(set(stamps))
    assert stamps[-1] <= WallClock().now() + 5


async def of_kind_0(host: Host) -> list[dict[str, Any]]:
    rows = await rows_of(host, "SELECT raw FROM outbox ORDER BY at")
    return [row for row in rows if json.loads(row["raw"])["kind"] == 0]


async def test_a_profile_that_is_there_already_is_not_sent_again(stage: Stage) -> None:
    stage.persona(profile="{name: Tide}")
    for _ in range(3):
        async with stage.host() as host:
            await published(stage, name="Tide")
            await settled(host)
            assert len(await of_kind_0(host)) == 1


async def test_a_relay_that_does_not_answer_gets_no_profile_before_it_was_read(stage: Stage) -> None:
    """It may hold a profile that a person wrote: replacing it blindly would destroy that one."""
    port = free_port()
    away = f"ws://127.0.0.1:{port}"
    (stage.folder / "relays" / "local.yaml").write_text(f"relays: [{away}]\n")
    stage.persona(profile="{name: Tide}")
    async with stage.host() as host:
        await settled(host)
        assert await rows_of(host, "SELECT 1 FROM outbox") == []
        async with LocalRelay(LocalRelayOptions(port=port)):
            await until(lambda: accepted(host, away))


async def accepted(host: Host, relay: str) -> bool:
    rows = await rows_of(host, "SELECT fate FROM receipts WHERE relay = ?", relay)
    return [row["fate"] for row in rows] == ["accepted"] * 2


async def test_a_relay_that_comes_later_gets_the_profile_that_the_others_have(stage: Stage) -> None:
    port = free_port()
    away = f"ws://127.0.0.1:{port}"
    (stage.folder / "relays" / "local.yaml").write_text(f"relays: ['{stage.relay_url}', '{away}']\n")
    stage.persona(profile="{name: Tide}")
    async with stage.host() as host:
        await published(stage, name="Tide")
        assert await rows_of(host, "SELECT 1 FROM receipts WHERE relay = ?", away) == []
        async with LocalRelay(LocalRelayOptions(port=port)):
            await until(lambda: accepted(host, away))
        assert len(await of_kind_0(host)) == 1


def test_fields_that_the_file_does_not_name_stay() -> None:
    before = Event(
        "0" * 64, "0" * 64, 1, 0, (("i", "github:tide", "proof"),), profile(name="Old", lud16="a@b"), b""
    )
    draft = profile_draft(Profile.model_validate({"name": "Tide"}), before)
    assert json.loads(draft.content) == {"name": "Tide", "lud16": "a@b", "bot": True}
    assert draft.tags == before.tags
    broken = profile_draft(Profile.model_validate({"name": "Tide"}), Event("", "", 1, 0, (), "[1", b""))
    assert json.loads(broken.content) == {"name": "Tide", "bot": True}


async def test_a_relay_list_says_which_relays_are_for_what(stage: Stage) -> None:
    (stage.folder / "relays" / "local.yaml").write_text(
        "relays:\n  - ws://127.0.0.1:1\n  - {url: 'ws://127.0.0.1:2', write: false}\n"
        "  - {url: 'ws://127.0.0.1:3', read: false}\n"
    )
    stage.persona()
    async with stage.host() as host:
        draft = relay_list_draft(host.house.roster.ganas["tide"])
    assert draft.tags == (
        ("r", "ws://127.0.0.1:1"),
        ("r", "ws://127.0.0.1:2", "read"),
        ("r", "ws://127.0.0.1:3", "write"),
    )

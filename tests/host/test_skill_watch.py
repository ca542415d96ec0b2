"""A running host and the skills that others may take back, let run out, or warn of."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

import pytest

from tests.host.stage import Stage, decided, rows_of, until
from tests.sharing.samples import ADA, EVE, TEXT, release
from tests.sharing.samples import published as signed_release
from uniun_bots.clock import WallClock
from uniun_bots.errors import UniunError
from uniun_bots.host.control.ask import ask_host
from uniun_bots.host.host import Host
from uniun_bots.nostr.event import Draft, Event
from uniun_bots.nostr.reference import spell_npub
from uniun_bots.nostr.secret import new_secret
from uniun_bots.nostr.signer import LocalSigner
from uniun_bots.sharing.event import hash_of
from uniun_bots.sharing.take import Parcel

WORDS = "Say when the tide comes."


async def published(stage: Stage, good_for_s: int = 86_400) -> Event:
    now = int(WallClock().now())
    of_version, of_name = await signed_release(release(created_at=now - 10, expires_at=now + good_for_s))
    for event in (of_version, of_name):
        await stage.client.send(event.raw, [stage.relay_url], event.author)
    return of_name


def parcel(stage: Stage, event: Event, *labels: str) -> Parcel:
    return Parcel(TEXT, hash_of(TEXT), "npub1…", "ada", event.raw.decode(), (stage.relay_url,), labels)


async def tell(host: Host, word: str, asked: dict[str, Any]) -> Any:
    return await ask_host(host.project.data_dir, "POST", f"/skills/{word}", asked)


async def take_back(stage: Stage, event: Event, why: str = "wrong port") -> Event:
    draft = Draft(5, why, (("e", event.id), ("k", "33400")), int(WallClock().now()))
    return await send(stage, ADA, draft)


async def send(stage: Stage, by: LocalSigner, draft: Draft) -> Event:
    event = await by.sign(draft)
    await stage.client.send(event.raw, [stage.relay_url], event.author)
    return event


async def prompts_of(stage: Stage, host: Host, question: str) -> str:
    """What the model is shown for it."""
    before = len(stage.engine.requests)
    await decided(host, await stage.ask(question, by=LocalSigner(new_secret())))
    return "\n".join(
        message.content for request in stage.engine.requests[before:] for message in request.messages
    )


async def state(host: Host) -> tuple[str, str]:
    (row,) = await rows_of(host, "SELECT state, reason FROM skills")
    return row["state"], row["reason"]


async def is_in(host: Host, wanted: str) -> None:
    async def there() -> bool:
        return (await state(host))[0] == wanted

    await until(there)


async def test_a_skill_is_used_from_its_installation_until_its_author_takes_it_back(
    stage: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    event = await published(stage)
    stage.persona(task="Be brief.")
    async with stage.host() as host:
        await tell(host, "install", asdict(parcel(stage, event)))
        stage.persona(task="Be brief.", skills="[tide-table]")
        await host.reload()
        assert WORDS in await prompts_of(stage, host, "When is high water?")
        await take_back(stage, event)
        await is_in(host, "revoked")
        assert (await state(host))[1] == "`wrong port`"
        assert WORDS not in await prompts_of(stage, host, "And today?")
        status = await ask_host(host.project.data_dir, "GET", "/status")
        assert any("its author took it back: `wrong port`" in one for one in status["skills_left_out"])
        assert "skill disabled: tide-table" in caplog.text
        await host.reload()
        assert WORDS not in await prompts_of(stage, host, "And now?")


async def test_what_was_taken_back_while_no_host_ran_is_found_at_the_start(stage: Stage) -> None:
    event = await published(stage)
    stage.persona(task="Be brief.")
    async with stage.host() as host:
        await tell(host, "install", asdict(parcel(stage, event)))
    await take_back(stage, event)
    stage.persona(task="Be brief.", skills="[tide-table]")
    async with stage.host() as host:
        await is_in(host, "revoked")
        assert WORDS not in await prompts_of(stage, host, "When is high water?")


async def test_somebody_elses_deletion_changes_nothing(stage: Stage) -> None:
    event = await published(stage)
    stage.persona(task="Be brief.")
    async with stage.host() as host:
        await tell(host, "install", asdict(parcel(stage, event)))
        stage.persona(task="Be brief.", skills="[tide-table]")
        await host.reload()
        forged = await EVE.sign(
            Draft(5, "", (("a", f"33400:{ADA.public_key}:tide-table"),), int(WallClock().now()))
        )
        await stage.client.send(forged.raw, [stage.relay_url], forged.author)
        assert WORDS in await prompts_of(stage, host, "When is high water?")
        assert (await state(host))[0] == "active"


async def test_what_runs_out_while_a_host_runs_is_disabled(stage: Stage) -> None:
    stage.persona(task="Be brief.")
    event = await published(stage, good_for_s=2)
    async with stage.host() as host:
        await tell(host, "install", asdict(parcel(stage, event)))
        await is_in(host, "expired")
        assert float(event.tag_values("expiry")[0]) <= WallClock().now()


LABEL = (("L", "skill-security"), ("l", "malicious-confirmed", "skill-security"))


async def test_a_warning_by_somebody_whom_the_owner_follows_disables_a_skill_and_a_strangers_does_not(
    stage: Stage,
) -> None:
    event = await published(stage)
    stage.settings(f"owner: {spell_npub(stage.person.public_key)}")
    stage.persona(task="Be brief.")
    now = int(WallClock().now())
    await send(stage, stage.person, Draft(3, "", (("p", EVE.public_key),), now))
    async with stage.host() as host:
        await tell(host, "install", asdict(parcel(stage, event)))
        await host.idle(20)
        stranger = LocalSigner(new_secret())
        await send(stage, stranger, Draft(1985, "", (*LABEL, ("e", event.id)), now))
        await send(stage, EVE, Draft(1985, "", (*LABEL, ("e", "0" * 64)), now))
        await decided(host, await stage.ask("When is high water?"))
        assert (await state(host))[0] == "active"
        seen = await send(stage, EVE, Draft(1985, "", (*LABEL, ("e", event.id)), now))
        await is_in(host, "labelled")
        assert spell_npub(EVE.public_key) in (await state(host))[1]
        again = replace(parcel(stage, event), labels=(seen.id,))
        await tell(host, "install", asdict(again))
        assert await host.idle(20)
        assert (await state(host))[0] == "active"


async def test_a_parcel_that_does_not_verify_is_refused_by_the_host_too(stage: Stage) -> None:
    event = await published(stage)
    stage.persona(task="Be brief.")
    async with stage.host() as host:
        forged = replace(parcel(stage, event), content=TEXT + "!", agreed_hash=hash_of(TEXT + "!"))
        with pytest.raises(UniunError, match="another text"):
            await tell(host, "install", asdict(forged))
        with pytest.raises(UniunError):
            await tell(host, "install", {"content": TEXT})
        with pytest.raises(UniunError, match="not installed"):
            await tell(host, "remove", {"name": "tide-table"})
        assert await rows_of(host, "SELECT * FROM skills") == []


async def test_removing_takes_it_from_a_running_host(stage: Stage) -> None:
    event = await published(stage)
    stage.persona(task="Be brief.")
    async with stage.host() as host:
        await tell(host, "install", asdict(parcel(stage, event)))
        await tell(host, "remove", {"name": "tide-table"})
        assert host.house.roster.installed == ()


async def test_a_folder_that_cannot_be_read_keeps_no_persona_from_losing_a_skill(stage: Stage) -> None:
    event = await published(stage)
    stage.persona(task="Be brief.")
    async with stage.host() as host:
        await tell(host, "install", asdict(parcel(stage, event)))
        stage.persona(task="Be brief.", skills="[tide-table]")
        await host.reload()
        stage.persona("broken", trigger="never")
        done = await tell(host, "remove", {"name": "tide-table"})
        assert "broken.md" in done["told"]
        assert host.house.roster.skills["tide"].texts == ()

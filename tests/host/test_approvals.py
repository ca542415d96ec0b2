"""Mode `approve` and device proposals in a running host: nothing happens without a person's yes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import pytest
from aiohttp import web
from nostr_sdk import Event as SdkEvent
from nostr_sdk import UnwrappedGift

from tests.host.stage import GROUP, Stage, decided, fate_of, rows_of, until
from uniun_bots.approvals import queue
from uniun_bots.approvals.approval import Approval, Settled, State
from uniun_bots.approvals.payload import Payload, Reminder, Share
from uniun_bots.approvals.propose import Proposal, propose
from uniun_bots.errors import UniunError
from uniun_bots.host.desk import NotSaved
from uniun_bots.host.host import Host
from uniun_bots.nostr.event import Event
from uniun_bots.nostr.filter import Filter
from uniun_bots.nostr.reference import spell_npub
from uniun_bots.nostr.secret import new_secret
from uniun_bots.nostr.signer import LocalSigner

DEVICE = "0" * 63 + "1"


async def drafted(stage: Stage, host: Host) -> Event:
    """A question whose answer waits for a person."""
    question = await stage.ask("When is high water?")
    await decided(host, question)
    assert await fate_of(host, question) == "succeeded"
    return question


async def waiting(host: Host) -> list[Approval]:
    return await host.store.read(queue.approvals)


async def approval(host: Host, number: int = 1) -> Approval:
    return await host.store.read(lambda tx: queue.approval(tx, number))


async def test_a_draft_waits_and_nothing_is_sent_or_asked_again(stage: Stage) -> None:
    stage.persona(mode="approve")
    async with stage.host() as host:
        question = await drafted(stage, host)
        (found,) = await waiting(host)
        assert (found.text, found.answers, found.run) == ("Scripted answer number 1.", question.id, 1)
        assert await stage.said() == [] == await rows_of(host, "SELECT * FROM outbox")
    async with stage.host() as host:
        assert await host.idle(10)
        assert len(await waiting(host)) == len(stage.engine.requests) == 1


async def test_a_yes_sends_exactly_what_live_would_have_sent_but_for_the_time(stage: Stage) -> None:
    stage.persona(mode="approve")
    stage.persona("live", limits=None)
    async with stage.host() as host:
        await drafted(stage, host)
        (live,) = await stage.replies(1, "live")
        (found,) = await waiting(host)
        before = int(host.clock.now())
        await host.desk().accept(found.number)
        (event,) = await stage.replies(1)
        assert (event.kind, event.tags) == (live.kind, live.tags)
        assert (event.content, event.author) == (found.text, stage.bots["tide"].public_key)
        assert event.created_at >= before
        assert SdkEvent.from_json(event.raw.decode()).verify()
        (run,) = await rows_of(host, "SELECT event_id FROM runs WHERE run = ?", found.run)
        assert run["event_id"] == event.id == (await approval(host, found.number)).event_id


async def test_two_yeses_at_once_are_one_event(stage: Stage) -> None:
    stage.persona(mode="approve")
    async with stage.host() as host:
        await drafted(stage, host)
        desk = host.desk()
        found = await asyncio.gather(*(desk.accept(1) for _ in range(5)), return_exceptions=True)
        assert [isinstance(one, Settled) for one in found].count(False) == 1, found
        assert await host.idle(10)
        await stage.replies(1)


async def test_no_is_for_good(stage: Stage) -> None:
    stage.persona(mode="approve")
    async with stage.host() as host:
        await drafted(stage, host)
        await host.desk().reject(1, "too harsh")
        with pytest.raises(Settled, match="rejected already: too harsh"):
            await host.desk().accept(1)
        assert await waiting(host) == [] == await stage.said()


async def test_an_edited_text_passes_the_same_gate_and_mentions_nobody_new(stage: Stage) -> None:
    stage.persona(mode="approve")
    own, stranger = stage.environ["TIDE_NSEC"], LocalSigner(new_secret())
    async with stage.host() as host:
        await drafted(stage, host)
        desk = host.desk()
        for bad in (own, " ", '{"name": "publish", "arguments": {}}', "word " * 200):
            with pytest.raises(NotSaved, match="^not saved: ") as refused:
                await desk.edit(1, bad)
            assert own not in str(refused.value)
        assert (await approval(host)).text == "Scripted answer number 1."
        named = f"nostr:{spell_npub(stranger.public_key)}"
        await desk.edit(1, f" At noon, says {named}. ")
        await desk.accept(1)
        (event,) = await stage.replies(1)
        assert event.content.startswith("At noon, says ") and named not in event.content
        assert event.tag_values("p") == [stage.person.public_key]


async def test_a_yes_is_said_to_the_text_that_was_read(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    stage.persona(mode="approve")
    async with stage.host() as host:
        await drafted(stage, host)
        desk = host.desk()

        async def meanwhile(*_: object) -> None:
            await desk.edit(1, "Another text.")

        monkeypatch.setattr(host.house.finder, "look_for_deletion", meanwhile)
        with pytest.raises(UniunError, match="was changed meanwhile"):
            await desk.accept(1)
        assert (await approval(host)).state is State.WAITING
        assert await stage.said() == []


async def test_what_waited_for_a_day_is_told_and_not_sent(stage: Stage) -> None:
    stage.persona(mode="approve")
    async with stage.host() as host:
        await drafted(stage, host)
        await host.store.write(lambda tx: tx.execute("UPDATE approvals SET expires_at = 1") and None)
        settled = await host.desk().accept(1)
        assert (settled.state, settled.reason) == (State.EXPIRED, "nobody decided in time")
        assert await stage.said() == []


async def test_what_its_author_deleted_meanwhile_is_told_and_not_sent(stage: Stage) -> None:
    """A14"""
    stage.persona(mode="approve")
    async with stage.host() as host:
        question = await drafted(stage, host)
        await stage.post(5, "", ("e", question.id))
        settled = await host.desk().accept(1)
        assert (settled.state, settled.reason) == (
            State.WITHDRAWN,
            "the note it answers was deleted by its author",
        )
        assert await stage.said() == []


async def test_an_author_who_said_stop_meanwhile_gets_no_reply(stage: Stage) -> None:
    stage.persona(mode="approve")
    async with stage.host() as host:
        await drafted(stage, host)
        stop = await stage.ask(f"nostr:{spell_npub(stage.bots['tide'].public_key)} stop")
        await decided(host, stop)
        settled = await host.desk().accept(1)
        assert (settled.state, settled.reason) == (
            State.MUTED,
            "the author of the note asked this Gana to stop",
        )
        assert await stage.said() == []


async def test_a_stop_that_still_stands_in_line_counts(stage: Stage) -> None:
    stage.persona(mode="approve")
    async with stage.host() as host:
        await drafted(stage, host)
        await host.store.write(lambda tx: tx.execute("UPDATE ganas SET paused = 'a break'") and None)
        stop = await stage.ask(f"nostr:{spell_npub(stage.bots['tide'].public_key)} stop")
        await decided(host, stop)
        assert await fate_of(host, stop) == "pending"
        assert (await host.desk().accept(1)).state is State.MUTED


async def test_what_the_same_key_answered_elsewhere_is_not_answered_again(stage: Stage) -> None:
    stage.persona(mode="approve")
    async with stage.host() as host:
        question = await drafted(stage, host)
        by_hand = await stage.post(
            42,
            "I answer that myself.",
            ("e", GROUP, "", "root"),
            ("e", question.id, "", "reply"),
            by=stage.bots["tide"],
        )
        await decided(host, by_hand)
        settled = await host.desk().accept(1)
        assert (settled.state, settled.reason) == (
            State.WITHDRAWN,
            "the same key answered that note elsewhere",
        )
        assert [one.id for one in await stage.said()] == [by_hand.id]


async def test_what_is_accepted_in_a_pause_goes_out_after_it(stage: Stage) -> None:
    stage.persona(mode="approve")
    async with stage.host() as host:
        await drafted(stage, host)
        await host.store.write(lambda tx: tx.execute("UPDATE ganas SET paused = 'a break'") and None)
        assert (await host.desk().accept(1)).state is State.ACCEPTED
        assert await host.idle(10)
        assert await stage.said() == []
        await host.store.write(lambda tx: tx.execute("UPDATE ganas SET paused = NULL") and None)
        await host.wake_pending(("tide",))
        await stage.replies(1)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"mode": "shadow"}, "mode shadow, which sends nothing"),
        ({"mode": "off"}, "tide is off or its file is gone"),
        ({"identity": "env:OTHER_NSEC"}, "tide has another identity since"),
    ],
)
async def test_a_persona_that_was_changed_sends_no_old_draft(
    stage: Stage, changes: dict[str, str], said: str
) -> None:
    stage.persona(mode="approve")
    stage.persona("other", mode="approve", input="{type: mentions}", output="{type: feed, reply: true}")
    async with stage.host() as host:
        await drafted(stage, host)
        stage.persona(**({"mode": "approve"} | changes))
        await host.reload()
        with pytest.raises(UniunError, match=said):
            await host.desk().accept(1)
        assert (await approval(host)).state is State.WAITING
        assert await stage.said() == []


# device proposals -------------------------------------------------------------------------------------


@dataclass
class Recording:
    """A webhook that writes down what it gets, and says what a test wants."""

    url: str = ""
    status: int = 200
    got: list[tuple[dict[str, object], str]] = field(default_factory=list)

    async def take(self, request: web.Request) -> web.Response:
        self.got.append((await request.json(), request.headers["Idempotency-Key"]))
        return web.Response(status=self.status, headers={"Location": "/elsewhere"})


@pytest.fixture
async def webhook() -> AsyncIterator[Recording]:
    recording = Recording()
    app = web.Application()
    app.router.add_post("/hook", recording.take)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    host, port = runner.addresses[0][:2]
    recording.url = f"http://{host}:{port}/hook"
    yield recording
    await runner.cleanup()


async def proposed(host: Host, payload: Payload) -> int:
    one = Proposal("tide", f"group:{GROUP}", DEVICE, payload, run=None)
    return await host.store.write(lambda tx: propose(tx, one, host.clock.now()))


async def test_nothing_is_shared_before_a_yes_and_once_after_it(stage: Stage, webhook: Recording) -> None:
    stage.persona()
    stage.settings(f"webhook: {webhook.url}")
    async with stage.host() as host:
        number = await proposed(host, Share("The tide is early."))
        assert await host.idle(10)
        assert webhook.got == []
        desk = host.desk()
        found = await asyncio.gather(*(desk.accept(number) for _ in range(3)), return_exceptions=True)
        assert [isinstance(one, Settled) for one in found].count(False) == 1, found
        ((body, once),) = webhook.got
        assert body == {"gana": "tide", "text": "The tide is early.", "approval": number, "answers": None}
        assert once == f"tide-{number}"
        settled = await approval(host, number)
        assert (settled.state, settled.reason) == (State.DONE, "the webhook said 200")


@pytest.mark.parametrize("status", [302, 500])
async def test_a_webhook_that_refuses_or_redirects_is_told_and_not_asked_again(
    stage: Stage, webhook: Recording, status: int
) -> None:
    stage.persona(webhook="env:HOOK")
    stage.environ["HOOK"] = webhook.url
    webhook.status = status
    async with stage.host() as host:
        settled = await host.desk().accept(await proposed(host, Share("The tide is early.")))
        assert (settled.state, settled.reason) == (State.FAILED, f"the webhook said {status}")
        assert len(webhook.got) == 1


async def test_a_webhook_that_is_not_there_is_told_without_its_address(
    stage: Stage, webhook: Recording, caplog: pytest.LogCaptureFixture
) -> None:
    stage.persona(webhook="env:HOOK")
    stage.environ["HOOK"] = webhook.url.replace("127.0.0.1:", "127.0.0.1:1/secret-")
    async with stage.host() as host:
        settled = await host.desk().accept(await proposed(host, Share("The tide is early.")))
        assert settled.state is State.FAILED and "could not be reached" in settled.reason
        assert "secret-" not in settled.reason + caplog.text


async def test_without_a_webhook_a_share_waits_and_says_what_to_write(stage: Stage) -> None:
    stage.persona()
    async with stage.host() as host:
        number = await proposed(host, Share("The tide is early."))
        with pytest.raises(UniunError, match="write `webhook: "):
            await host.desk().accept(number)
        assert (await approval(host, number)).state is State.WAITING


async def test_a_secret_key_is_not_shared_whoever_says_yes(stage: Stage, webhook: Recording) -> None:
    stage.persona(webhook=webhook.url)
    async with stage.host() as host:
        number = await proposed(host, Share(f"Take {stage.environ['TIDE_NSEC']}"))
        with pytest.raises(UniunError, match="spells a secret key"):
            await host.desk().accept(number)
        assert webhook.got == []


async def test_a_reminder_reaches_the_owner_alone_at_its_time_and_once(stage: Stage) -> None:
    owner = LocalSigner(new_secret())
    stage.settings(f"owner: {spell_npub(owner.public_key)}")
    stage.persona()
    async with stage.host() as host:
        later = await proposed(host, Reminder("Much later.", host.clock.now() + 3600))
        number = await proposed(host, Reminder("Look at the tide.", host.clock.now() - 1))
        assert await _letters(stage, owner) == []
        for one in (later, number):
            assert (await host.desk().accept(one)).state is State.ACCEPTED
    for _ in range(2):
        async with stage.host() as host:
            assert await host.idle(10)

            async def sent(host: Host = host) -> bool:
                return (await approval(host, number)).state is State.DONE and await host.idle(10)

            await until(sent)
    (gift,) = await _letters(stage, owner)
    opened = UnwrappedGift.from_gift_wrap(owner.keys, SdkEvent.from_json(gift.raw.decode()))
    assert opened.sender().to_hex() == stage.bots["tide"].public_key
    rumor = json.loads(opened.rumor().as_json())
    assert (rumor["kind"], rumor["content"]) == (14, "Look at the tide.")
    assert gift.author != stage.bots["tide"].public_key


async def test_a_reminder_that_is_due_goes_out_of_the_running_host(stage: Stage) -> None:
    owner = LocalSigner(new_secret())
    stage.settings(f"owner: {spell_npub(owner.public_key)}")
    stage.persona()
    async with stage.host() as host:
        assert await host.idle(10)
        for text in ("Look at the tide.", "And again."):
            await host.desk().accept(await proposed(host, Reminder(text, host.clock.now())))
            assert await host.idle(10)
        assert len(await _letters(stage, owner)) == 2


async def _letters(stage: Stage, owner: LocalSigner) -> list[Event]:
    wanted = Filter(kinds=(1059,), tags=(("p", (owner.public_key,)),))
    return await stage.client.fetch([wanted], [stage.relay_url], timeout_s=5)


async def test_without_an_owner_a_reminder_waits_and_says_what_to_write(stage: Stage) -> None:
    stage.persona()
    async with stage.host() as host:
        number = await proposed(host, Reminder("Look at the tide.", host.clock.now()))
        with pytest.raises(UniunError, match="write `owner: npub1"):
            await host.desk().accept(number)

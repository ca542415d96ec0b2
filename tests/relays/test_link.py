"""Connections: lost, refused, half open, closed, logged in."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest
from nostr_sdk import Keys

from tests.relays.conftest import hear, note, raw, until
from tests.relays.puppet import Puppet, Say, empty
from uniun_bots.clock import WallClock
from uniun_bots.nostr.filter import Filter
from uniun_bots.nostr.secret import new_secret
from uniun_bots.nostr.signer import LocalSigner
from uniun_bots.personas.relay_set import RelayAddress
from uniun_bots.relays.backoff import Backoff
from uniun_bots.relays.fault_proxy import FaultProxy
from uniun_bots.relays.faults import Faults
from uniun_bots.relays.gateway import Gateway
from uniun_bots.relays.interest import Interest
from uniun_bots.relays.local import LocalRelay, LocalRelayOptions
from uniun_bots.relays.login import MOST_LOGINS
from uniun_bots.relays.options import GatewayOptions
from uniun_bots.relays.receipt import Fate
from uniun_bots.relays.relay_status import RelayStatus

NOTES = Filter(kinds=(1,))
WRAPS = Filter(kinds=(1059,))


def gateway(*addresses: RelayAddress | str, signers: Sequence[LocalSigner] = (), **options: Any) -> Gateway:
    relays = tuple(RelayAddress(url=one) if isinstance(one, str) else one for one in addresses)
    return Gateway(
        GatewayOptions(relays=relays, **options),
        WallClock(),
        signers={one.public_key: one for one in signers},
    )


def status(one: Gateway, reader: str = "") -> RelayStatus:
    return next(status for status in one.status() if status.reader == reader)


async def test_after_an_outage_of_three_seconds_it_is_back_within_two(relay: LocalRelay, keys: Keys) -> None:
    loop = asyncio.get_running_loop()
    async with FaultProxy(relay.url) as proxy, gateway(proxy.url) as reader, gateway(relay.url) as writer:
        await reader.watch([Interest(NOTES, (proxy.url,), since=0)])
        await until(lambda: status(reader).repairs)
        await proxy.set(Faults(refuse=True))
        await asyncio.sleep(3)
        assert not status(reader).connected
        await proxy.set(Faults())
        back = loop.time()
        await until(lambda: status(reader).connected)
        assert loop.time() - back < 2
        await writer.send(raw(note(keys, "after")), [relay.url], "")
        assert [heard.event.content for heard in await hear(reader, 1)] == ["after"]


async def test_the_past_is_read_once_the_relay_sends_what_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    """The other way round an event that comes in between is neither live nor past."""
    asked, early = threading.Event(), []

    async def script(frame: list[Any], say: Say) -> None:
        if frame[0] == "REQ" and frame[2].get("limit") == 0:
            early.append(await asyncio.to_thread(asked.wait, 0.3))
            await say("EOSE", frame[1])
        else:
            asked.set()
            await empty(frame, say)

    monkeypatch.setattr("uniun_bots.relays.link.turn_off_nagle", lambda: asked.wait(0.3))
    async with Puppet(script) as puppet, gateway(puppet.url) as reader:
        await reader.watch([Interest(NOTES, (puppet.url,), since=0)])
        await until(lambda: status(reader).repairs)
    assert early == [False]
    assert asked.is_set()


async def test_connections_that_do_not_last_are_one_outage(monkeypatch: pytest.MonkeyPatch) -> None:
    """A02: a relay that takes every connection and hangs up at the first word gets no hot loop either."""
    outages: list[float] = []

    def at_once(_backoff: Backoff, outage_s: float) -> float:
        outages.append(outage_s)
        return 0.1

    async def hang_up(_frame: list[Any], _say: Say) -> None:
        raise ConnectionError

    monkeypatch.setattr(Backoff, "delay_s", at_once)
    async with Puppet(hang_up) as puppet, gateway(puppet.url) as reader:
        await reader.watch([Interest(NOTES, (puppet.url,), since=0)])
        await until(lambda: len(outages) >= 8)
    assert puppet.connections >= 8
    assert all(later - earlier >= 0.1 for earlier, later in pairwise(outages))


async def test_a_half_open_connection_is_noticed_and_made_anew(relay: LocalRelay, keys: Keys) -> None:
    async with (
        FaultProxy(relay.url) as proxy,
        gateway(proxy.url, quiet_s=0.5, answer_timeout_s=0.5) as reader,
        gateway(relay.url) as writer,
    ):
        await reader.watch([Interest(NOTES, (proxy.url,), since=0)])
        await until(lambda: status(reader).repairs)
        await proxy.set(Faults(silent=True))
        await writer.send(raw(note(keys, "unheard")), [relay.url], "")
        await until(lambda: not status(reader).connected)
        await proxy.set(Faults())
        assert [heard.event.content for heard in await hear(reader, 1)] == ["unheard"]


async def test_a_quiet_relay_that_answers_keeps_its_connection(relay: LocalRelay) -> None:
    async with FaultProxy(relay.url) as proxy, gateway(proxy.url, quiet_s=0.1) as reader:
        await until(lambda: proxy.counts["down EOSE"] > 5)
        assert proxy.counts["connections"] == 1
        assert status(reader).connected


async def test_a_closed_subscription_is_opened_again(relay: LocalRelay, keys: Keys) -> None:
    async with FaultProxy(relay.url) as proxy, gateway(proxy.url) as reader, gateway(relay.url) as writer:
        await proxy.set(Faults(close_reqs="error: shutting down idle subscription"))
        await reader.watch([Interest(NOTES, (proxy.url,), since=0)])
        await until(lambda: proxy.counts["down CLOSED"])
        await proxy.set(Faults())
        await writer.send(raw(note(keys, "later")), [relay.url], "")
        assert [heard.event.content for heard in await hear(reader, 1)] == ["later"]


async def test_a_login_is_made_for_the_stored_challenge_and_the_same_req_sent_again(keys: Keys) -> None:
    """A05: reading gift wraps needs a login; the REQ comes again once the relay said OK, and only then."""
    signer, stranger = LocalSigner(new_secret()), LocalSigner(new_secret())
    wrap = note(keys, "wrapped", kind=1059)
    asked_before_ok: list[str] = []
    logged_in = asyncio.Event()

    async def script(frame: list[Any], say: Say) -> None:
        if frame[0] == "AUTH":
            assert frame[1]["pubkey"] == signer.public_key
            assert ["challenge", "f3c1"] in frame[1]["tags"]
            assert ["relay", puppet.url] in frame[1]["tags"]
            logged_in.set()
            await say("OK", frame[1]["id"], True, "")
        elif frame[0] == "REQ" and not logged_in.is_set():
            asked_before_ok.append(frame[1])
            await say("CLOSED", frame[1], "auth-required: log in to read private messages")
        elif frame[0] == "REQ" and 1059 in frame[2].get("kinds", []):
            await say("EVENT", frame[1], json.loads(wrap.as_json()))
            await say("EOSE", frame[1])
        else:
            await empty(frame, say)

    async def greet(say: Say) -> None:
        await say("AUTH", "f3c1")

    async with Puppet(script, greet) as puppet:
        address = RelayAddress(url=puppet.url, auth=True)
        async with gateway(address, signers=[stranger, signer]) as reader:
            await reader.watch([Interest(WRAPS, (puppet.url,), since=0, reader=signer.public_key)])
            (heard,) = await hear(reader, 1)
            assert heard.event.content == "wrapped"
            assert len(puppet.words("AUTH")) == 1
            live = [frame[1] for frame in puppet.words("REQ") if frame[1].startswith("live")]
            assert len(set(live)) == 1
            assert len(live) <= 2
            assert status(reader, signer.public_key).refused == ()


@pytest.mark.parametrize(
    ("auth", "signed", "said"),
    [
        (False, True, "write `auth: true` beside it"),
        (True, False, "no identity to log in with"),
        (True, True, "sent no challenge"),
    ],
)
async def test_a_login_that_cannot_be_made_is_told(auth: bool, signed: bool, said: str) -> None:
    """A05: an error that names the relay and the subscription, and no blacklist."""

    async def script(frame: list[Any], say: Say) -> None:
        if frame[0] == "REQ":
            await say("CLOSED", frame[1], "auth-required: log in")

    signers = [LocalSigner(new_secret())] if signed else []
    async with (
        Puppet(script) as puppet,
        gateway(RelayAddress(url=puppet.url, auth=auth), signers=signers) as reader,
    ):
        await reader.watch([Interest(WRAPS, (puppet.url,), since=0)])
        await until(lambda: any(one.refused for one in reader.status()))
        (refused,) = next(one.refused for one in reader.status() if one.refused)
        assert said in refused.reason
        assert puppet.url in refused.reason
        assert refused.filter == '{"kinds":[1059]}'


async def test_a_relay_that_never_stops_demanding_logins_gets_a_few(
    relay: LocalRelay, keys: Keys, caplog: pytest.LogCaptureFixture
) -> None:
    """A06: ten thousand challenges and `auth-required` for ever; other relays go on."""
    signer = LocalSigner(new_secret())

    async def script(frame: list[Any], say: Say) -> None:
        if frame[0] == "REQ":
            await say("CLOSED", frame[1], "auth-required: again")
        elif frame[0] == "AUTH":
            await say("OK", frame[1]["id"], True, "")
            await say("AUTH", "another one")

    async def greet(say: Say) -> None:
        for n in range(10_000):
            await say("AUTH", f"c{n}")

    async with Puppet(script, greet) as puppet:
        address = RelayAddress(url=puppet.url, auth=True)
        with caplog.at_level(logging.WARNING):
            async with gateway(address, relay.url, signers=[signer]) as reader, gateway(relay.url) as writer:
                await reader.watch(
                    [Interest(WRAPS, (puppet.url,), since=0), Interest(NOTES, (relay.url,), since=0)]
                )
                await until(lambda: status(reader, signer.public_key).refused)
                await writer.send(raw(note(keys, "elsewhere")), [relay.url], "")
                await hear(reader, 1)
                assert len(puppet.words("AUTH")) <= MOST_LOGINS
        told = [record for record in caplog.records if "left alone" in record.message]
        assert len(told) == 1


async def test_restricted_is_final_and_told(relay: LocalRelay, keys: Keys) -> None:
    """A07: logged in and not allowed; no AUTH and no REQ can help, and reading goes on elsewhere."""
    signer = LocalSigner(new_secret())

    async def script(frame: list[Any], say: Say) -> None:
        if frame[0] == "REQ":
            await say("CLOSED", frame[1], "restricted: this key may not read here")
        else:
            await empty(frame, say)

    async def greet(say: Say) -> None:
        await say("AUTH", "f3c1")

    async with Puppet(script, greet) as puppet:
        address = RelayAddress(url=puppet.url, auth=True)
        async with gateway(address, relay.url, signers=[signer]) as reader, gateway(relay.url) as writer:
            await reader.watch([Interest(NOTES, (puppet.url, relay.url), since=0)])
            await until(lambda: status(reader, signer.public_key).refused)
            assert (
                status(reader, signer.public_key).refused[0].reason
                == "restricted: this key may not read here"
            )
            await writer.send(raw(note(keys, "elsewhere")), [relay.url], "")
            await hear(reader, 1)
            live = [frame for frame in puppet.words("REQ") if frame[1].startswith("live")]
            assert len(live) == 1
            assert len(puppet.words("AUTH")) == 1


@pytest.mark.parametrize(
    "notice", ["ERROR: bad req: subscription id too long", "ERROR: bad req: not an object"]
)
async def test_a_req_without_an_answer_is_unconfirmed_and_the_notice_shown(notice: str) -> None:
    """A10, A51: a NOTICE names no subscription; the relay looks connected and serves nothing."""

    async def script(frame: list[Any], say: Say) -> None:
        if frame[0] == "REQ" and frame[1].startswith("live"):
            await say("NOTICE", notice)
        elif frame[0] == "NEG-OPEN":
            await say("NEG-ERR", frame[1], "blocked: not here")
        else:
            await empty(frame, say)

    async with Puppet(script) as puppet, gateway(puppet.url, answer_timeout_s=0.3) as reader:
        await reader.watch([Interest(NOTES, (puppet.url,), since=0)])
        await until(lambda: status(reader).unconfirmed)
        assert status(reader).unconfirmed == ('{"kinds":[1]}',)
        assert status(reader).last_notice == notice
        assert status(reader).connected
        assert not status(reader).healthy


async def test_our_words_keep_nip_01(keys: Keys) -> None:
    """A10, A51: ids of at most 64 characters, filters as objects at the top of the frame."""
    async with Puppet(empty) as puppet, gateway(puppet.url) as one:
        many = [Interest(Filter(kinds=(n,), authors=("ab" * 32,)), (puppet.url,), since=0) for n in range(9)]
        await one.watch(
            [*many, Interest(Filter(kinds=(42,), tags=(("e", ("cd" * 32,)),)), (puppet.url,), since=0)]
        )
        await until(lambda: status(one).repairs)
        await one.watch([])
        await until(lambda: [frame for frame in puppet.words("CLOSE") if frame[1].startswith("live")])
        for frame in puppet.words("REQ"):
            assert 1 <= len(frame[1]) <= 64
            assert len(frame) >= 3
            assert all(isinstance(found, dict) for found in frame[2:])
        live = [frame for frame in puppet.words("REQ") if frame[1].startswith("live")]
        assert len(live) == 2


async def test_a_login_is_made_to_publish_and_only_as_the_author(keys: Keys) -> None:
    signer = LocalSigner(new_secret())
    async with LocalRelay(LocalRelayOptions(auth=True)) as relay:
        event = note(signer.keys, "mine")
        async with gateway(RelayAddress(url=relay.url, auth=True), signers=[signer]) as one:
            (receipt,) = await one.send(raw(event), [relay.url], signer.public_key)
            assert receipt.fate is Fate.ACCEPTED
        async with gateway(relay.url, signers=[signer]) as two:
            (receipt,) = await two.send(raw(note(signer.keys, "more")), [relay.url], signer.public_key)
            assert receipt.fate is Fate.AUTH_REQUIRED


async def test_an_event_without_an_ok_is_unanswered_not_lost(relay: LocalRelay, keys: Keys) -> None:
    async with FaultProxy(relay.url) as proxy, gateway(proxy.url, ok_timeout_s=0.3) as one:
        await proxy.set(Faults(no_ok=True))
        (receipt,) = await one.send(raw(note(keys, "into the void")), [proxy.url], "")
        assert receipt.fate is Fate.UNANSWERED
        assert not receipt.fate.final
        await proxy.set(Faults(refuse_events="rate-limited: slow down"))
        (receipt,) = await one.send(raw(note(keys, "too fast")), [proxy.url], "")
        assert (receipt.fate, receipt.message) == (Fate.RATE_LIMITED, "rate-limited: slow down")


async def test_a_connection_lost_under_a_send_ends_the_wait(relay: LocalRelay, keys: Keys) -> None:
    async with FaultProxy(relay.url) as proxy, gateway(proxy.url, ok_timeout_s=30.0) as one:
        await proxy.set(Faults(no_ok=True))
        sending = asyncio.ensure_future(one.send(raw(note(keys, "cut")), [proxy.url], ""))
        await until(lambda: proxy.counts["up EVENT"])
        proxy.cut()
        (receipt,) = await asyncio.wait_for(sending, 5)
        assert receipt.fate is Fate.UNANSWERED


async def test_a_relay_that_comes_back_is_told() -> None:
    back: list[str] = []
    async with Puppet(empty) as puppet:
        options = GatewayOptions(relays=(RelayAddress(url=puppet.url),))
        async with Gateway(options, WallClock(), came_back=back.append):
            await until(lambda: back)
            assert back == [puppet.url]

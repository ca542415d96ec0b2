"""A persona on stage: what it hears is said by people of the test, and what it says is looked at."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

from uniun_bots.clock import VirtualClock
from uniun_bots.errors import UniunError
from uniun_bots.host.host import Host
from uniun_bots.host.rehearsal.decisions import Decision, decisions_on
from uniun_bots.host.rehearsal.rehearsal import Rehearsal
from uniun_bots.inference.scripted import ScriptedEngine
from uniun_bots.nostr.event import Draft, Event, Tag
from uniun_bots.nostr.filter import Filter
from uniun_bots.nostr.secret import new_secret
from uniun_bots.nostr.signer import LocalSigner
from uniun_bots.personas.gana import Gana, Input, InputType
from uniun_bots.personas.hosted import HostedGana
from uniun_bots.personas.relay_set import RelayAddress
from uniun_bots.personas.scalars import duration_s
from uniun_bots.personas.settings import DEFAULT_ENGINE
from uniun_bots.relays.gateway import Gateway
from uniun_bots.relays.local import LocalRelay
from uniun_bots.relays.options import GatewayOptions
from uniun_bots.testing.set_up import STAR, read_stage

MONDAY = 1_767_603_600.0
"""Where the clock starts: 2026-01-05, 09:00 UTC."""
SOON_S = 60.0
"""Virtual time in which an answer must come."""
HEARD_WITHIN_S = 10.0


class Persona:
    """Opened by the fixture `persona`. Time stands still but for `advance` and what an expectation waits for."""

    def __init__(
        self, rehearsal: Rehearsal, client: Gateway, relay: str, model: ScriptedEngine, name: str
    ) -> None:
        self.model, self.clock, self.host = model, rehearsal.clock, rehearsal.host
        self._rehearsal, self._client, self._relay, self._name = rehearsal, client, relay, name
        self._people: dict[str, LocalSigner] = {}
        self._last: Event | None = None
        self._seen: set[str] = set()

    @property
    def gana(self) -> Gana:
        return self._hosted.gana

    @property
    def pubkey(self) -> str:
        return self._hosted.pubkey

    def person(self, name: str) -> LocalSigner:
        """Somebody with a key of their own. `friend` is on every allow list that the persona has."""
        return self._people.setdefault(name, LocalSigner(new_secret()))

    def cast(self, people: dict[str, LocalSigner]) -> None:
        self._people.update(people)

    async def hears(self, text: str, *, by: str = "somebody", answers: Event | None = None) -> Event:
        """A note where the persona listens, with the stamp of now. Whom it reads itself says it for `input: user`."""
        kind, tags = self._where(answers)
        speaker = STAR if self._input_type() is InputType.USER else by
        return await self.post(kind, text, *tags, by=speaker)

    async def post(self, kind: int, text: str, *tags: Tag, by: str = "somebody") -> Event:
        """Any event, such as a profile (kind 0) or a deletion (kind 5)."""
        signer = self.person(by)
        event = await signer.sign(Draft(kind, text, tags, int(self.clock.now())))
        (receipt,) = await self._client.send(event.raw, [self._relay], signer.public_key)
        if not receipt.fate.delivered:
            raise UniunError(f"the relay did not take the event: {receipt.fate} {receipt.message}")
        if kind in (1, 42):
            self._last = event
            await self._until_heard(event)
        return event

    async def expect_reply(self, words: str = "", *, to: Event | None = None) -> Event:
        """The reply to what was heard last, or to this note; with these words in it. Raises AssertionError."""
        heard, decision = await self._decision(to)
        if decision.fate != "answered" or decision.event is None:
            raise AssertionError(f"{self._name} did not answer {heard.content!r}: {_told(decision)}")
        event = await self._read_back(decision.event["id"])
        if words not in event.content:
            raise AssertionError(f"{self._name} said {event.content!r}, without {words!r}")
        return event

    async def expect_silence(self, setting: str | None = None, *, to: Event | None = None) -> str:
        """Why nothing was said: the model chose so, or a guard held it, by this setting. Raises AssertionError."""
        heard, decision = await self._decision(to)
        if decision.event is not None:
            raise AssertionError(
                f"{self._name} answered {heard.content!r} with {decision.event['content']!r}"
            )
        if decision.fate not in ("silent", "held") or (setting and decision.setting != setting):
            wanted = f" by {setting}" if setting else ""
            raise AssertionError(f"{heard.content!r} was not held{wanted}: {_told(decision)}")
        return decision.reason

    async def expect_post(self, words: str = "") -> Event:
        """The newest that it published and no expectation has seen, with these words in it. Raises AssertionError."""
        await self._rehearsal.settle()
        new = [event for event in await self.said() if event.id not in self._seen]
        if not new:
            raise AssertionError(f"{self._name} published nothing new")
        self._seen.update(event.id for event in new)
        if words not in new[-1].content:
            raise AssertionError(f"{self._name} said {new[-1].content!r}, without {words!r}")
        return new[-1]

    async def advance(self, duration: str | float) -> None:
        """Let time pass, such as `6h`, with everything that comes due in it."""
        seconds = duration_s(duration) if isinstance(duration, str) else duration
        await self._rehearsal.go_to(self.clock.now() + seconds)

    async def said(self) -> list[Event]:
        """Everything that the relay has by it, oldest first."""
        wanted = Filter(kinds=(1, 42), authors=(self.pubkey,))
        found = await self._client.fetch([wanted], [self._relay])
        return sorted(found, key=lambda event: event.created_at)

    @property
    def _hosted(self) -> HostedGana:
        return self.host.house.roster.ganas[self._name]

    def _input_type(self) -> InputType | None:
        return self.gana.input.type if self.gana.input else None

    def _where(self, answers: Event | None) -> tuple[int, tuple[Tag, ...]]:
        thread: tuple[Tag, ...] = (("e", answers.id, "", "reply"), ("p", answers.author)) if answers else ()
        match self.gana.input:
            case Input(type=InputType.GROUP, ref=str(ref)):
                return 42, (("e", ref, "", "root"), *thread)
            case Input(type=InputType.FOLLOWED_NOTE, ref=str(ref)):
                return 1, (("e", ref, "", "root"), *thread)
            case Input(type=InputType.MENTIONS):
                return 1, (("p", self.pubkey), *thread)
            case Input(type=InputType.USER):
                return 1, thread
        raise UniunError(
            f"{self._name} does not listen to notes that `hears` can write: use `post` or `advance`"
        )

    async def _until_heard(self, event: Event) -> None:
        async with asyncio.timeout(HEARD_WITHIN_S):
            while not await self.host.store.read(lambda tx: _is_kept(tx, event.id)):
                await asyncio.sleep(0.005)
        await self._rehearsal.settle()

    async def _decision(self, to: Event | None) -> tuple[Event, Decision]:
        heard = to or self._last
        if heard is None:
            raise AssertionError(f"{self._name} has heard nothing yet: call `hears` first")
        await self._rehearsal.play_out(self.clock.now() + SOON_S)
        roster = self.host.house.roster
        found = await self.host.store.read(lambda tx: decisions_on(tx, heard, roster))
        return heard, found[0] if found else Decision(
            self._name, "nothing", "it does not watch there", "", None, None
        )

    async def _read_back(self, event_id: str) -> Event:
        found = await self._client.fetch([Filter(ids=(event_id,))], [self._relay])
        if not found:
            raise AssertionError(f"{self._name} answered, and the relay does not have it")
        self._seen.add(event_id)
        return found[0]


@asynccontextmanager
async def on_stage(folder: Path, name: str, data_dir: Path, says: Sequence[str]) -> AsyncIterator[Persona]:
    """Raises ConfigError for a faulty project and NotFound for a persona that it does not have."""
    async with AsyncExitStack() as stack:
        relay = await stack.enter_async_context(LocalRelay())
        staged, library, cast = await asyncio.to_thread(read_stage, folder, name, data_dir, relay.url)
        clock, model = VirtualClock(MONDAY), ScriptedEngine(says)
        host = Host(
            folder,
            clock=clock,
            environ=staged.environ,
            engines={DEFAULT_ENGINE: model},
            read=lambda _: (staged.project, library),
        )
        await stack.enter_async_context(host)
        options = GatewayOptions(relays=(RelayAddress(url=relay.url),))
        client = await stack.enter_async_context(Gateway(options, clock))
        opened = Persona(Rehearsal(host, clock), client, relay.url, model, name)
        opened.cast(cast)
        await opened.advance(0)
        yield opened


def _told(decision: Decision) -> str:
    why = f": {decision.reason}" if decision.reason else ""
    return f"{decision.fate}{why}{f' ({decision.setting})' if decision.setting else ''}"


def _is_kept(tx: Any, event_id: str) -> bool:
    return tx.execute("SELECT 1 FROM notes WHERE id = ?", (event_id,)).fetchone() is not None

"""A whole house for one test: a local relay, a project folder, a scripted model, and people with a client of theirs."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

from uniun_bots.clock import Clock, WallClock
from uniun_bots.host.host import Host
from uniun_bots.inference.engine import Engine
from uniun_bots.inference.request import Request
from uniun_bots.inference.scripted import ScriptedEngine
from uniun_bots.nostr.bech32 import encode
from uniun_bots.nostr.event import Draft, Event
from uniun_bots.nostr.filter import Filter
from uniun_bots.nostr.secret import SecretText, new_secret
from uniun_bots.nostr.signer import LocalSigner
from uniun_bots.personas.relay_set import RelayAddress
from uniun_bots.relays.gateway import Gateway
from uniun_bots.relays.local import LocalRelay
from uniun_bots.relays.options import GatewayOptions

GROUP = "4b7df1c9e5b40a4e7a3b0a2f6f0d1c5a8e9d2b3c4f5061728394a5b6c7d8e9f0"
IN_GROUP = f"{{type: group, ref: {GROUP}}}"
WITHIN_S = 20.0


def nsec(secret: SecretText) -> str:
    return encode("nsec", bytes.fromhex(secret.reveal))


class Stage:
    def __init__(self, folder: Path, relay_url: str, client: Gateway) -> None:
        self.folder, self.relay_url, self.client = folder, relay_url, client
        self.engine = ScriptedEngine(numbered(), slots=4)
        self.engines: dict[str, Engine] = {}
        """More of them, by name."""
        self.person = LocalSigner(new_secret())
        self.environ: dict[str, str] = {}
        self.bots: dict[str, LocalSigner] = {}
        self.settings()
        (folder / "relays").mkdir(parents=True, exist_ok=True)
        (folder / "relays" / "local.yaml").write_text(f"relays: [{relay_url}]\n")

    # the project folder -------------------------------------------------------------------------------

    def settings(self, *lines: str) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        quiet = () if any(line.startswith("embedder") for line in lines) else ("embedder: none",)
        (self.folder / "host.yaml").write_text("\n".join((*lines, *quiet)))

    def persona(
        self, name: str = "tide", /, task: str | None = "Say when the tide comes.", **changes: str | None
    ) -> Path:
        """Answers in the group, live and at once, unless `changes` say otherwise; None leaves a key out."""
        if name not in self.bots:
            secret = new_secret()
            self.environ[f"{name.upper()}_NSEC"] = nsec(secret)
            self.bots[name] = LocalSigner(secret)
        given = {
            "name": name.title(),
            "identity": f"env:{name.upper()}_NSEC",
            "mode": "live",
            "input": IN_GROUP,
            "output": "{type: group, ref: same, reply: true}",
            "trigger": "every-message",
            "debounce": "0s",
            "limits": "{per_hour: 1000, per_day: 1000, per_author_per_hour: 1000, per_thread: 1000}",
        }
        lines = [f"{key}: {value}" for key, value in (given | changes).items() if value is not None]
        path = self.folder / "personas" / f"{name}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(["---", *lines, "---", task or "", ""]))
        return path

    def host(self, clock: Clock | None = None, **given: Any) -> Host:
        environ: Mapping[str, str] = self.environ
        return Host(
            self.folder,
            clock=clock,
            environ=environ,
            engines={"default": self.engine, **self.engines},
            debounce=False,
            **given,
        )

    # people -------------------------------------------------------------------------------------------

    async def post(
        self,
        kind: int,
        text: str,
        *tags: tuple[str, ...],
        by: LocalSigner | None = None,
        at: int | None = None,
    ) -> Event:
        signer = by or self.person
        stamp = int(WallClock().now()) if at is None else at
        event = await signer.sign(Draft(kind, text, tags, stamp))
        (receipt,) = await self.client.send(event.raw, [self.relay_url], signer.public_key)
        assert receipt.fate.delivered, receipt
        return event

    async def ask(self, text: str, by: LocalSigner | None = None, at: int | None = None) -> Event:
        """A question in the group."""
        return await self.post(42, text, ("e", GROUP, "", "root"), by=by, at=at)

    async def said(self, name: str = "tide", *kinds: int) -> list[Event]:
        """What the relay has by this persona, oldest first."""
        wanted = Filter(kinds=kinds or (1, 42), authors=(self.bots[name].public_key,))
        found = await self.client.fetch([wanted], [self.relay_url], timeout_s=5)
        return sorted(found, key=lambda event: event.created_at)

    async def replies(self, count: int, name: str = "tide", *kinds: int) -> list[Event]:
        found: list[Event] = []

        async def enough() -> bool:
            found[:] = await self.said(name, *kinds)
            return len(found) >= count

        await until(enough)
        assert len(found) == count, [event.content for event in found]
        return found


def numbered() -> Callable[[Request], str]:
    """Never the same twice: the gate refuses a reply that repeats the last one."""
    numbers = itertools.count(1)
    return lambda request: f"Scripted answer number {next(numbers)}."


async def until(check: Callable[[], Awaitable[bool]], within_s: float = WITHIN_S) -> None:
    """Wait for what lives in a store or on a relay and has no event of its own."""
    async with asyncio.timeout(within_s):
        while not await check():
            await asyncio.sleep(0.02)


async def decided(host: Host, *events: Event, within_s: float = WITHIN_S) -> None:
    """Until the host heard these and nothing is due or under way any more."""

    async def heard() -> bool:
        rows = await asyncio.gather(
            *(rows_of(host, "SELECT 1 FROM notes WHERE id = ?", one.id) for one in events)
        )
        return all(rows)

    await until(heard)
    assert await host.idle(within_s)


async def rows_of(host: Host, sql: str, *args: object) -> list[dict[str, Any]]:
    return await host.store.read(lambda tx: [dict(row) for row in tx.execute(sql, args)])


async def fate_of(host: Host, event: Event, gana: str = "tide") -> str:
    """One word for what became of an input: its ending, `held: setting`, `tried again` or `pending`."""
    for row in await rows_of(host, "SELECT ending FROM answered WHERE gana = ? AND key = ?", gana, event.id):
        return str(row["ending"])
    for row in await rows_of(host, "SELECT setting FROM held WHERE gana = ? AND note_id = ?", gana, event.id):
        return f"held: {row['setting']}"
    if await rows_of(host, "SELECT 1 FROM retries WHERE gana = ? AND key = ?", gana, event.id):
        return "tried again"
    return "pending"


def last_words(request: Request) -> str:
    """The last message of a request, in which the input stands."""
    return request.messages[-1].content


def profile(**said: object) -> str:
    return json.dumps(said)


@contextlib.asynccontextmanager
async def open_stage(folder: Path) -> AsyncIterator[Stage]:
    async with LocalRelay() as relay:
        options = GatewayOptions(relays=(RelayAddress(url=relay.url),))
        async with Gateway(options, WallClock()) as client:
            yield Stage(folder, relay.url, client)

"""What the demo does: a relay, a host, a group, a question, and the reply read back by a client of its own."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from uniun_bots.clock import WallClock, monotonic
from uniun_bots.errors import UniunError
from uniun_bots.host.host import Host
from uniun_bots.nostr.event import Draft, Event
from uniun_bots.nostr.filter import Filter
from uniun_bots.nostr.secret import new_secret
from uniun_bots.nostr.signer import LocalSigner
from uniun_bots.personas.load_relay_set import bundled_folder
from uniun_bots.personas.relay_set import RelayAddress
from uniun_bots.relays.gateway import Gateway
from uniun_bots.relays.interest import Interest
from uniun_bots.relays.local import LocalRelay
from uniun_bots.relays.options import GatewayOptions

GANA = "life-lessons-replier"
QUESTIONS = (
    "I keep starting books and never finish them. How do I learn to stay with one thing?",
    "Yesterday I was unfair to a friend, and now we do not talk. What would you do first?",
    "Everybody around me seems to know what they want. How did you find out?",
)
"""The later ones are for a model that has nothing to say to the one before."""
SCRIPT = ("Choose one page a day and keep the promise small.",)
LOOK_EVERY_S = 0.2
ANSWER_WITHIN_S = 180.0


@dataclass(frozen=True, slots=True)
class Journey:
    relay: str
    group: Event
    question: Event
    reply: Event
    run: dict[str, Any]
    raw_text: str
    seconds: float


async def travel(folder: Path, model: str, say: Callable[[str], None]) -> Journey:
    """Raises TimeoutError when no reply comes back."""
    began = monotonic()
    bot, person = LocalSigner(new_secret()), LocalSigner(new_secret())
    async with AsyncExitStack() as stack:
        relay = await stack.enter_async_context(LocalRelay())
        say(f"[1/5] a relay listens on {relay.url}")
        reader = await stack.enter_async_context(
            Gateway(GatewayOptions(relays=(RelayAddress(url=relay.url),)), WallClock())
        )
        now = int(WallClock().now())
        group = await person.sign(Draft(40, json.dumps({"name": "daily-thoughts"}), (), now))
        await _post(reader, group, relay.url, person)
        await asyncio.to_thread(write_project, folder, relay.url, group.id, model)
        await reader.watch([Interest(_answers(bot, group), (relay.url,), now)])
        environ = {"LIFE_LESSONS_NSEC": bot.keys.secret_key().to_bech32()}
        host = await stack.enter_async_context(Host(folder, environ=environ))
        say(f"[2/5] a host runs the persona {GANA} from {folder}")
        say("[3/5] somebody asks in the group; the model reads and writes (this is the slow part)")
        async with asyncio.timeout(ANSWER_WITHIN_S):
            question, reply = await _ask_until_answered(
                partial(_ask, reader, person, group, relay.url), reader, host, say
            )
        say("[4/5] the reply was read back from the relay, and its signature holds")
        run, raw_text = await host.store.read(_run_row)
        say("[5/5] stopping")
        return Journey(relay.url, group, question, reply, run, raw_text, monotonic() - began)


def write_project(folder: Path, relay: str, group: str, model: str) -> None:
    """The example persona as it ships, with this group, turned on."""
    (folder / "personas").mkdir(parents=True)
    (folder / "relays").mkdir()
    (folder / "relays" / "local.yaml").write_text(f"relays:\n  - {relay}\n")
    scripted = f"engines: {{script: {{type: scripted, replies: {json.dumps(SCRIPT)}}}}}\n"
    (folder / "host.yaml").write_text(
        f"model: {model}\nembedder: none\n{scripted if model == 'script' else ''}"
    )
    if manas := bundled_folder("manas"):
        shutil.copytree(manas, folder / "manas")
    example = (bundled_folder("personas") or Path("personas")) / f"{GANA}.md"
    lines = example.read_text(encoding="utf-8").splitlines(keepends=True)
    changed = [
        f"  ref: {group}\n"
        if line.startswith("  ref:")
        else "mode: live\ndebounce: 0s\n"
        if line.startswith("mode:")
        else line
        for line in lines
    ]
    (folder / "personas" / f"{GANA}.md").write_text("".join(changed), encoding="utf-8")


def _answers(bot: LocalSigner, group: Event) -> Filter:
    return Filter(kinds=(42,), authors=(bot.public_key,), tags=(("e", (group.id,)),))


async def _ask(gateway: Gateway, person: LocalSigner, group: Event, relay: str, text: str) -> Event:
    tags = (("e", group.id, relay, "root"),)
    question = await person.sign(Draft(42, text, tags, int(WallClock().now())))
    await _post(gateway, question, relay, person)
    return question


async def _post(gateway: Gateway, event: Event, relay: str, signer: LocalSigner) -> None:
    for receipt in await gateway.send(event.raw, [relay], signer.public_key):
        if not receipt.fate.delivered:
            raise UniunError(f"the relay did not take our event: {receipt.fate} {receipt.message}")


async def _ask_until_answered(
    ask: Callable[[str], Awaitable[Event]], reader: Gateway, host: Host, say: Callable[[str], None]
) -> tuple[Event, Event]:
    """A question and the reply to it. Raises UniunError when none of the questions got one."""
    for text in QUESTIONS:
        earlier = await host.store.read(_count_of_runs)
        question = await ask(text)
        if reply := await _reply_or_none(reader, host, question, earlier):
            return question, reply
        run, _ = await host.store.read(_run_row)
        say(f"      nothing was published: {run['reason']} ({run['ending']}); somebody asks something else")
    raise UniunError(f"{GANA} answered none of {len(QUESTIONS)} questions: try a larger model with --model")


async def _reply_or_none(reader: Gateway, host: Host, question: Event, earlier: int) -> Event | None:
    """None: a run after the `earlier` ones ended without words."""
    reading = asyncio.create_task(_read_back(reader, question))
    try:
        while not (await asyncio.wait([reading], timeout=LOOK_EVERY_S))[0]:
            if await host.store.read(_count_of_runs) > earlier:
                run, _ = await host.store.read(_run_row)
                if run["body"] is None:
                    return None
        return await reading
    finally:
        reading.cancel()


async def _read_back(reader: Gateway, question: Event) -> Event:
    while True:
        for heard in await reader.hear():
            if question.id in heard.event.tag_values("e"):
                return heard.event


def _count_of_runs(tx: Any) -> int:
    return int(tx.execute("SELECT count(*) FROM runs").fetchone()[0])


def _run_row(tx: Any) -> tuple[dict[str, Any], str]:
    run = dict(tx.execute("SELECT * FROM runs ORDER BY run DESC LIMIT 1").fetchone())
    step = tx.execute(
        "SELECT model, text FROM steps WHERE run = ? ORDER BY round DESC", (run["run"],)
    ).fetchone()
    return {**run, "model": step["model"]}, step["text"]

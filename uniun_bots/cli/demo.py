"""`uniun-bots demo`: the whole journey on this machine, in under a minute."""

from __future__ import annotations

import asyncio
import json
import logging
import shutil
import tempfile
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from nostr_sdk import uniffi_set_event_loop

from uniun_bots.cli.run import leave, told
from uniun_bots.clock import WallClock, monotonic
from uniun_bots.errors import UniunError
from uniun_bots.host import event_loop
from uniun_bots.host.host import Host
from uniun_bots.nostr.event import Draft, Event
from uniun_bots.nostr.filter import Filter
from uniun_bots.nostr.reference import spell_note
from uniun_bots.nostr.secret import new_secret
from uniun_bots.nostr.signer import LocalSigner
from uniun_bots.personas.load_relay_set import bundled_folder
from uniun_bots.personas.relay_set import RelayAddress
from uniun_bots.personas.settings import DEFAULT_MODEL
from uniun_bots.relays.gateway import Gateway
from uniun_bots.relays.interest import Interest
from uniun_bots.relays.local import LocalRelay
from uniun_bots.relays.options import GatewayOptions

GANA = "life-lessons-replier"
QUESTION = "I keep starting books and never finish them. How do I learn to stay with one thing?"
ANSWER_WITHIN_S = 180.0
HONEST = """\
This was SmolLM2 with 135 million parameters: small enough to come along with the installation, and good for a
first look only. For answers worth reading, point `model:` in host.yaml at a larger GGUF file, such as
  model: path:/models/Qwen3-4B-Instruct-Q4_K_M.gguf"""


@dataclass(frozen=True, slots=True)
class Journey:
    relay: str
    group: Event
    question: Event
    reply: Event
    run: dict[str, Any]
    raw_text: str
    seconds: float


@click.command(epilog="Example: uniun-bots demo --keep my-first-bots")
@click.option("--json", "as_json", is_flag=True, help="The last line is one JSON object.")
@click.option(
    "--keep", "kept", type=click.Path(path_type=Path), help="Keep the project folder here (a new one)."
)
@click.option("--model", default=DEFAULT_MODEL, help="Another model reference than the bundled one.")
@click.option("--scripted", is_flag=True, help="Without a model: a scripted answer, in seconds.")
def demo(as_json: bool, kept: Path | None, model: str, scripted: bool) -> None:
    """See a persona answer: a local relay, a host, a group, a question, and the signed reply read back.

    Nothing leaves this machine. Exit code 1 when no reply came back from the relay.
    """
    logging.basicConfig(level=logging.WARNING)
    if kept and kept.exists():
        raise click.UsageError(f"{kept} exists: name a new folder for --keep")
    folder = kept or Path(tempfile.mkdtemp(prefix="uniun-bots-demo-"))
    try:
        code = event_loop.run(_demo(folder, "script" if scripted else model, as_json))
    finally:
        if kept is None:
            shutil.rmtree(folder, ignore_errors=True)
    leave(code)


async def _demo(folder: Path, model: str, as_json: bool) -> int:
    uniffi_set_event_loop(asyncio.get_running_loop())
    try:
        journey = await travel(folder, model, lambda line: click.echo(line, err=as_json))
    except UniunError as fault:
        return told(fault)
    except TimeoutError:
        click.echo(f"no reply was read back within {ANSWER_WITHIN_S:.0f} s", err=True)
        return 1
    _tell(journey, as_json)
    return 0


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
        tags = (("e", group.id, relay.url, "root"),)
        question = await person.sign(Draft(42, QUESTION, tags, int(WallClock().now())))
        await _post(reader, question, relay.url, person)
        say("[3/5] somebody asks in the group; the model reads and writes (this is the slow part)")
        async with asyncio.timeout(ANSWER_WITHIN_S):
            reply = await _read_back(reader, question)
        say("[4/5] the reply was read back from the relay, and its signature holds")
        run, raw_text = await host.store.read(_run_row)
        say("[5/5] stopping")
        return Journey(relay.url, group, question, reply, run, raw_text, monotonic() - began)


def write_project(folder: Path, relay: str, group: str, model: str) -> None:
    """The example persona as it ships, with this group, turned on."""
    (folder / "personas").mkdir(parents=True)
    (folder / "relays").mkdir()
    (folder / "relays" / "local.yaml").write_text(f"relays:\n  - {relay}\n")
    scripted = (
        "engines: {script: {type: scripted, replies: [Choose one page a day and keep the promise small.]}}\n"
    )
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


async def _post(gateway: Gateway, event: Event, relay: str, signer: LocalSigner) -> None:
    for receipt in await gateway.send(event.raw, [relay], signer.public_key):
        if not receipt.fate.delivered:
            raise UniunError(f"the relay did not take our event: {receipt.fate} {receipt.message}")


async def _read_back(reader: Gateway, question: Event) -> Event:
    while True:
        for heard in await reader.hear():
            if question.id in heard.event.tag_values("e"):
                return heard.event


def _run_row(tx: Any) -> tuple[dict[str, Any], str]:
    run = dict(tx.execute("SELECT * FROM runs ORDER BY run DESC LIMIT 1").fetchone())
    step = tx.execute(
        "SELECT model, text FROM steps WHERE run = ? ORDER BY round DESC", (run["run"],)
    ).fetchone()
    return {**run, "model": step["model"]}, step["text"]


def _tell(journey: Journey, as_json: bool) -> None:
    click.echo(f"\n  somebody:  {journey.question.content}", err=as_json)
    click.echo(f"  {GANA}:  {journey.reply.content}\n", err=as_json)
    click.echo(f"  reply      {spell_note(journey.reply.id)}", err=as_json)
    click.echo(f"  run        {journey.run['run']} ended {journey.run['ending']}", err=as_json)
    click.echo(f"  model      {journey.run['model']}", err=as_json)
    click.echo(f"  wrote      {journey.raw_text!r}", err=as_json)
    click.echo(f"  took       {journey.seconds:.1f} s\n", err=as_json)
    if journey.run["model"] == DEFAULT_MODEL:
        click.echo(HONEST, err=as_json)
    if as_json:
        found = {
            "relay": journey.relay,
            "group_event": json.loads(journey.group.raw),
            "input_event": json.loads(journey.question.raw),
            "reply_event": json.loads(journey.reply.raw),
            "model": journey.run["model"],
            "run_id": journey.run["run"],
            "raw_text": journey.raw_text,
            "seconds": round(journey.seconds, 2),
        }
        click.echo(json.dumps(found, ensure_ascii=False))

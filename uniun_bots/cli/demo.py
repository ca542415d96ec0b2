"""`uniun-bots demo`: the whole journey on this machine, in under a minute."""

from __future__ import annotations

import asyncio
import json
import logging
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import click

from uniun_bots.cli.ending import leave, told
from uniun_bots.errors import UniunError
from uniun_bots.personas.settings import DEFAULT_MODEL

if TYPE_CHECKING:
    from uniun_bots.cli.journey import Journey

HONEST = """\
This was SmolLM2 with 135 million parameters: small enough to come along with the installation, and good for a
first look only. For answers worth reading, point `model:` in host.yaml at a larger GGUF file, such as
  model: path:/models/Qwen3-4B-Instruct-Q4_K_M.gguf"""


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
        from uniun_bots.host import event_loop

        code = event_loop.run(_demo(folder, "script" if scripted else model, as_json))
    finally:
        if kept is None:
            shutil.rmtree(folder, ignore_errors=True)
    leave(code)


async def _demo(folder: Path, model: str, as_json: bool) -> int:
    from nostr_sdk import uniffi_set_event_loop

    from uniun_bots.cli.journey import ANSWER_WITHIN_S, travel

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


def _tell(journey: Journey, as_json: bool) -> None:
    from uniun_bots.cli.journey import GANA
    from uniun_bots.nostr.reference import spell_note

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

"""`uniun-bots persona simulate`: what a persona would have done with recorded events."""

from __future__ import annotations

import json
import logging
import os
import tempfile
import textwrap
from collections.abc import Awaitable
from dataclasses import replace
from pathlib import Path

import click

from uniun_bots.cli.ending import leave
from uniun_bots.cli.ending import told as tell_fault
from uniun_bots.cli.folder import duration, json_option, when
from uniun_bots.errors import ConfigError, Fault, UniunError
from uniun_bots.graph.dump import Place, read_piece
from uniun_bots.host import event_loop
from uniun_bots.host.project_folder import load_folder
from uniun_bots.host.rehearsal.decisions import Decision
from uniun_bots.host.rehearsal.simulation import Played, Story, as_json, simulate
from uniun_bots.host.rehearsal.staging import stage
from uniun_bots.inference.engine import Engine
from uniun_bots.inference.scripted import ScriptedEngine
from uniun_bots.nostr.event import Event
from uniun_bots.nostr.read import verify
from uniun_bots.nostr.reference import spell_note, spell_npub
from uniun_bots.personas.coherence_of_settings import is_engine_name
from uniun_bots.personas.project import Project
from uniun_bots.personas.settings import DEFAULT_ENGINE

MOST_EVENTS = 100_000
MOST_BYTES = 512 * 1024 * 1024


@click.command(
    "simulate",
    epilog="Example: uniun-bots persona simulate my-bots/personas/tide-teller.md --events heard.jsonl",
)
@click.argument("files", nargs=-1, required=True, type=click.Path(dir_okay=False, path_type=Path))
@click.option(
    "--events",
    "dump",
    required=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="Signed events as JSON, one on each line: `nak req`, or `uniun-bots notes export`.",
)
@click.option("--model", default=None, help="Another model, or the name of another engine of host.yaml.")
@click.option(
    "--script",
    type=click.Path(dir_okay=False, path_type=Path),
    help="No model: its replies, one on each line, in turn and from the start again.",
)
@click.option(
    "--for",
    "go_on_s",
    metavar="DURATION",
    default="15m",
    show_default=True,
    callback=duration,
    help="Goes on so long at the end.",
)
@json_option
def simulate_personas(
    files: tuple[Path, ...], dump: Path, model: str | None, script: Path | None, go_on_s: float, as_json: bool
) -> None:
    """Tell what personas would have done with recorded events, and why. Nothing is published or kept.

    FILES are persona files of one project. The events are heard at the times that they carry, and everything else
    runs as it does in a host, whatever `mode` says. Keys that cannot be opened without asking are replaced.
    """
    logging.basicConfig(level=logging.ERROR)
    if model and script:
        raise click.UsageError("give --model or --script, not both")
    project, library = load_folder(_folder_of(files))
    only = {project.gana(path.stem).id for path in files}
    project = _with_model(project, model)
    engines = _scripted(script) if script else {}
    events = read_events(dump)
    with tempfile.TemporaryDirectory(prefix="uniun-bots-simulation-") as data_dir:
        staged = stage(
            project, Path(data_dir), os.environ, only=only, real_keys=True, scripted=script is not None
        )
        code = event_loop.run(_simulate(simulate(staged, library, events, engines, go_on_s), as_json))
    leave(code)


async def _simulate(simulation: Awaitable[Story], json_wanted: bool) -> int:
    try:
        story = await simulation
    except UniunError as fault:
        return tell_fault(fault)
    click.echo(json.dumps(as_json(story)) if json_wanted else "\n".join(_lines(story)))
    return 0


def read_events(path: Path) -> list[Event]:
    """Raises ConfigError with every line that is no event or is not signed by its author."""
    with path.open("rb") as opened:
        piece = read_piece(opened, Place(), MOST_EVENTS, MOST_BYTES)
        more = bool(opened.read(1))
    faults = [Fault(str(path), bad.number, 1, bad.reason) for bad in piece.bad]
    faults += [
        Fault(
            str(path), number, 1, "the id or the signature does not fit: events are read as they were signed"
        )
        for number, event in piece.events
        if not verify(event)
    ]
    if more:
        faults.append(
            Fault(str(path), piece.end.line, 1, f"more than {MOST_EVENTS:,} lines: give it in parts")
        )
    if faults:
        raise ConfigError(faults)
    return [event for _, event in piece.events]


def _folder_of(files: tuple[Path, ...]) -> Path:
    folders = {path.resolve().parent for path in files}
    (folder,) = folders if len(folders) == 1 else (Path(),)
    if folder.name != "personas":
        raise click.UsageError(
            "FILES must stand in personas/ of one project folder: its settings and skills count"
        )
    return files[0].parent.parent


def _with_model(project: Project, model: str | None) -> Project:
    if model is None:
        return project
    if is_engine_name(model) and model not in project.settings.engines:
        known = ", ".join(project.settings.engines) or "none"
        raise click.UsageError(f"host.yaml has no engine {model}; there are: {known}")
    ganas = tuple(gana.model_copy(update={"model": DEFAULT_ENGINE}) for gana in project.ganas)
    return replace(project, settings=project.settings.model_copy(update={"model": model}), ganas=ganas)


def _scripted(script: Path) -> dict[str, Engine]:
    replies = [
        line.replace("\\n", "\n") for line in script.read_text(encoding="utf-8").splitlines() if line.strip()
    ]
    if not replies:
        raise click.UsageError(f"{script} has no replies: write one on each line")
    return {DEFAULT_ENGINE: ScriptedEngine(replies, again=True)}


def _lines(story: Story) -> list[str]:
    lines = [
        f"{gana} runs on a key made for this simulation: its own could not be opened without asking, and notes that"
        " name it are not seen as mentions. Set its variable, or UNIUN_BOTS_PASSPHRASE_FILE"
        for gana in story.throwaway
    ]
    for one in story.played:
        if one.decisions:
            lines += _played_lines(one)
    for timer in story.timers:
        lines += ["at its time", *_decision_lines(timer)]
    if unwatched := sum(not one.decisions for one in story.played):
        lines.append(f"{unwatched} of {len(story.played)} notes stand where none of these personas listens")
    return lines or ["nothing happened"]


def _played_lines(one: Played) -> list[str]:
    words = " ".join(one.text.split())
    lines = [f"{when(one.at)}  {spell_note(one.note)} by {spell_npub(one.author)}", f"  {words[:200]}"]
    for decision in one.decisions:
        lines += _decision_lines(decision)
    return lines


def _decision_lines(one: Decision) -> list[str]:
    why = f": {one.reason}" if one.reason else ""
    setting = f" ({one.setting})" if one.setting else ""
    lines = [f"    {one.gana} {one.fate}{why}{setting}"]
    if one.event:
        answers = [tag[1] for tag in one.event["tags"] if tag[0] == "e" and "reply" in tag]
        to = f", to {spell_note(answers[0])}" if answers else ""
        lines += [f"      kind {one.event['kind']}{to}", textwrap.indent(one.event["content"], "      ")]
    return lines

"""`uniun-bots persona`: look at personas, turn them on and off."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from uniun_bots.approvals.queue import waiting_count
from uniun_bots.cli.commands import Commands
from uniun_bots.cli.folder import console, data_dir, folder_option, json_option, read_store, require_project
from uniun_bots.cli.listing import listing
from uniun_bots.clock import WallClock
from uniun_bots.database.store import FILE, Store
from uniun_bots.errors import NotFound
from uniun_bots.host.control.ask import ask_host
from uniun_bots.host.lease import holder, lease
from uniun_bots.inputs.enabled import standing, turn_off, turn_on
from uniun_bots.personas.gana import Gana, Mode
from uniun_bots.personas.new_persona import new_persona
from uniun_bots.personas.project import Project, load_project
from uniun_bots.personas.set_mode import set_mode
from uniun_bots.skills.catalogue import Role
from uniun_bots.skills.library import Library
from uniun_bots.skills.load_skills import load_skills
from uniun_bots.skills.registry import register
from uniun_bots.triggers.timetable import forget

PLACES = (
    (
        "simulate",
        "uniun_bots.cli.persona.simulate:simulate_personas",
        "Tell what personas would have done with recorded events.",
    ),
    ("publish", "uniun_bots.cli.persona.share:publish_persona", "Give a persona to others as a template."),
    ("inspect", "uniun_bots.cli.persona.share:inspect_persona", "Look at a template that somebody shared."),
    (
        "install",
        "uniun_bots.cli.persona.share:install_persona",
        "Write a persona file from a template.",
    ),
    (
        "revoke",
        "uniun_bots.cli.sharing.revoke:revoke_persona",
        "Take back every version of a template that you published.",
    ),
)


@click.group(cls=Commands, places=PLACES, epilog="Example: uniun-bots persona list --dir my-bots")
def persona() -> None:
    """The personas of a project folder: list, show, new, enable, disable, simulate, share."""


@persona.command("list", epilog="Example: uniun-bots persona list --json")
@folder_option
@json_option
def list_personas(folder: Path, as_json: bool) -> None:
    """Every persona file with its mode and what it watches."""
    ganas = load_project(folder).ganas
    if as_json:
        click.echo(json.dumps([_summary(gana) for gana in ganas]))
        return
    keys = ("id", "mode", "input", "output", "trigger", "name")
    rows = ([_summary(gana)[key] for key in keys] for gana in ganas)
    console().print(listing(("persona", *keys[1:]), rows))


@persona.command("show", epilog="Example: uniun-bots persona show life-lessons-replier")
@click.argument("name")
@folder_option
@json_option
def show_persona(name: str, folder: Path, as_json: bool) -> None:
    """One persona with everything it resolved to, and how it stands in the store."""
    project = load_project(folder)
    gana = project.gana(name)
    found = {
        **gana.model_dump(mode="json"),
        "standing": _standing(folder, name),
        "registered": _registered(gana, load_skills(folder)),
        "measured": _measured(project, name),
    }
    if as_json:
        click.echo(json.dumps(found))
        return
    for key, value in found.items():
        if key != "task" and value not in (None, [], {}):
            click.echo(f"{key:12} {_words(value)}")
    click.echo(f"\n{gana.task}")


@persona.command("new", epilog="Example: uniun-bots persona new tide-teller")
@click.argument("name")
@folder_option
def new(name: str, folder: Path) -> None:
    """Write personas/NAME.md from the example, turned off. Nothing that is there is overwritten."""
    require_project(folder)
    path = new_persona(folder, name)
    click.echo(f"wrote {path}\n")
    click.echo(f"Next: `uniun-bots keys new {name}`, edit the file, `uniun-bots check`, and")
    click.echo(f"`uniun-bots persona enable {name} --mode shadow` to see what it would say.")


@persona.command("enable", epilog="Example: uniun-bots persona enable life-lessons-replier --mode shadow")
@click.argument("name")
@click.option("--mode", type=click.Choice(["shadow", "approve", "live"]), default="live", show_default=True)
@click.option("--catch-up", is_flag=True, help="Start where it stopped instead of now.")
@folder_option
def enable(name: str, mode: str, catch_up: bool, folder: Path) -> None:
    """Turn a persona on, starting at now; re-arms a `once-*` trigger. Writes `mode:` into its file."""
    gana = load_project(folder).gana(name)
    changed = set_mode(Path(gana.file), Mode(mode))
    _tell_host(folder, name, on=True, catch_up=catch_up, rearm=not changed)
    click.echo(f"{name} is {Mode(mode)}{', from where it stopped' if catch_up else ''}")


@persona.command("disable", epilog="Example: uniun-bots persona disable life-lessons-replier")
@click.argument("name")
@folder_option
def disable(name: str, folder: Path) -> None:
    """Turn a persona off. Writes `mode: off` into its file."""
    gana = load_project(folder).gana(name)
    set_mode(Path(gana.file), Mode.OFF)
    _tell_host(folder, name, on=False, catch_up=False, rearm=False)
    click.echo(f"{name} is off")


def _words(value: Any) -> str:
    """For people: `type mentions; batch turn`, without what is not said."""
    match value:
        case str():
            return value
        case {"told": str(told)}:
            return told
        case dict():
            given = {key: one for key, one in value.items() if one not in (None, [], {})}
            return "; ".join(f"{key} {_words(one)}" for key, one in given.items())
        case list():
            return ", ".join(map(_words, value))
    return json.dumps(value)


def _measured(project: Project, name: str) -> dict[str, Any] | None:
    """How reliable its model was when it was probed; None for a Gana to which that means nothing."""
    from uniun_bots.host.probing import (
        verdicts,  # With everything that runs models: not for help and listings.
    )

    found = verdicts(project, project.data_dir / FILE).get(name)
    return asdict(found) if found else None


def _summary(gana: Gana) -> dict[str, Any]:
    return {
        "id": gana.id,
        "name": gana.name,
        "mode": str(gana.mode),
        "input": str(gana.input.type) if gana.input else "none",
        "output": str(gana.output.type),
        "trigger": str(gana.trigger),
        "file": gana.file,
    }


def _registered(gana: Gana, library: Library) -> dict[str, list[str]]:
    """What its model may call, by role; of a one-shot Gana the skills below its task."""
    registration = register(gana, library)
    roles = Role if gana.agentic else (Role.TEXT,)
    return {str(role): list(names) for role in roles if (names := registration.names(role))}


def _standing(folder: Path, name: str) -> dict[str, Any] | None:
    try:
        now = WallClock().now()
        state, waiting = read_store(folder, lambda tx: (standing(tx, name), waiting_count(tx, now, name)))
    except NotFound:
        return None
    return {
        "enabled_at": state.enabled_at,
        "paused": state.paused,
        "spent": state.spent,
        "approvals": waiting,
    }


def _tell_host(folder: Path, name: str, *, on: bool, catch_up: bool, rearm: bool) -> None:
    """A running host reads the folder again; without one, the store notes the moment."""
    where = data_dir(folder)
    if holder(where) is not None:
        asked = {"catch_up": [name] if catch_up else [], "rearm": [name] if rearm else []}
        asyncio.run(ask_host(where, "POST", "/reload", asked))
        return
    now = WallClock().now()

    def unit(tx: sqlite3.Connection) -> None:
        turn_off(tx, name)
        if on:
            forget(tx, name)
            turn_on(tx, name, now, catch_up=catch_up)

    async def note() -> None:
        async with Store(where / FILE) as store:
            await store.write(unit)

    with lease(where):
        asyncio.run(note())

"""`uniun-bots status`, `pause`, `resume` and `backup`"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import click
from rich.table import Table

from uniun_bots.cli.folder import act, console, data_dir, folder_option, json_option, when
from uniun_bots.cli.seats import seat_lines
from uniun_bots.database import store
from uniun_bots.database.store import FILE
from uniun_bots.errors import NotFound
from uniun_bots.host import actions
from uniun_bots.host.control.ask import ask_host
from uniun_bots.personas.project import load_project


@click.command(epilog="Example: uniun-bots status --dir my-bots --json")
@folder_option
@json_option
def status(folder: Path, as_json: bool) -> None:
    """How the running host is doing: relays, Ganas, model, outbox. Exit code 1 when none runs."""
    found = asyncio.run(ask_host(data_dir(folder), "GET", "/status"))
    click.echo(json.dumps(found)) if as_json else _show(found)


names_argument = click.argument("names", nargs=-1)
all_option = click.option("--all", "everyone", is_flag=True, help="Every Gana of the folder.")


@click.command(epilog="Example: uniun-bots pause life-lessons-replier")
@names_argument
@all_option
@folder_option
def pause(names: tuple[str, ...], everyone: bool, folder: Path) -> None:
    """Stop answering at once, and across restarts, until `resume`. Inputs wait; nothing is lost."""
    ganas = _named(folder, names, everyone)
    why = "paused by a person"
    act(folder, "/pause", {"ganas": ganas, "why": why}, lambda tx: actions.pause(tx, ganas, why))
    click.echo(f"paused: {', '.join(ganas)}")


@click.command(epilog="Example: uniun-bots resume --all")
@names_argument
@all_option
@folder_option
def resume(names: tuple[str, ...], everyone: bool, folder: Path) -> None:
    """Go on after `pause`, with everything that came meanwhile and is not too old."""
    ganas = _named(folder, names, everyone)
    act(folder, "/resume", {"ganas": ganas}, lambda tx: actions.resume(tx, ganas))
    click.echo(f"resumed: {', '.join(ganas)}")


@click.command(epilog="Example: uniun-bots backup /safe/bots-2026-01-31.sqlite --dir my-bots")
@click.argument("target", type=click.Path(path_type=Path))
@folder_option
def backup(target: Path, folder: Path) -> None:
    """Write a consistent copy of the database, also while a host runs. Keys are not in it."""
    source = data_dir(folder) / FILE
    if not source.exists():
        raise NotFound(f"{source} does not exist yet: nothing has run here")
    store.backup(source, target)
    click.echo(f"wrote {target} ({target.stat().st_size:,} bytes)")


def _named(folder: Path, names: tuple[str, ...], everyone: bool) -> list[str]:
    project = load_project(folder)
    if not names and not everyone:
        raise click.UsageError("name a Gana, or give --all")
    ganas = project.ganas if everyone else [project.gana(name) for name in names]
    return [gana.id for gana in ganas]


def _show(found: dict[str, Any]) -> None:
    screen = console()
    relays = Table("relay", "state", "since", "last word", title="Relays", title_justify="left")
    for relay in found["relays"]:
        refused = "; ".join(one["reason"] for one in relay["refused"])
        state = "connected" if relay["connected"] else "away"
        relays.add_row(
            relay["url"], state, when(relay["since"]), refused or relay["last_error"] or relay["last_notice"]
        )
    ganas = Table(
        "Gana", "mode", "pending", "for a person", "last run", "state", title="Ganas", title_justify="left"
    )
    for gana in found["ganas"]:
        last = gana["last_run"]
        state = gana["paused"] or ("spent" if gana["spent"] else "")
        ganas.add_row(
            gana["gana"],
            gana["mode"],
            str(gana["pending"]),
            str(gana["approvals"]),
            f"{last['ending']} {when(last['ended_at'])}" if last else "-",
            state,
        )
    screen.print(relays, ganas)
    for engine in found["engines"]:
        model = engine["model"] or "not loaded yet"
        screen.print(
            f"engine {engine['name']}: {model}, {len(engine['running'])} running,"
            f" {len(engine['waiting'])} waiting, {engine['done']} done, {engine['failed']} failed"
        )
        if told := worker_deaths(engine["health"]):
            screen.print(f"  {told}", markup=False)
    for seat in found["scheduler"]["seats"]:
        first, *others = seat_lines(seat)
        screen.print(first, *(f"  {line}" for line in others), sep="\n", markup=False)
    screen.print(
        f"{found['notes']} notes, {found['outbox']} in the outbox, {found['approvals']} waiting for a person,"
        f" {found['dead_letters']} dead letters,"
        f" pid {found['pid']}"
    )
    screen.print(searching(found["search"]))
    if left_out := found["skills_left_out"]:
        screen.print(
            f"skills that cannot be used: {len(left_out)}", *(f"  {why}" for why in left_out), sep="\n"
        )
    if found["memories_on"]:
        screen.print(memory_line(found["memories"]))
    sys.stdout.flush()


def memory_line(backlog: dict[str, int]) -> str:
    return (
        f"{backlog['kept']} memories; {backlog['waiting']} notes wait for one, {backlog['given_up']} given up"
    )


def searching(search: dict[str, Any]) -> str:
    """How far notes can be searched by meaning."""
    if search["state"] == "off":
        return "search: by words (`embedder: none`)"
    told = f"search: {search['embedder']}, {search['embedded']} notes embedded, {search['waiting']} wait"
    told += f" ({search['state']})"
    if search["refused"]:
        told += f", {search['refused']} passed over"
    return f"{told}; {search['fault']}" if search["fault"] else told


def worker_deaths(health: dict[str, Any] | None) -> str:
    """Empty when none died, or the engine has no worker."""
    if not health or not health["deaths"]:
        return ""
    rests = f"; the next start waits for {health['resting_s']:.0f} s" if health["resting_s"] else ""
    often = "once," if health["deaths"] == 1 else f"{health['deaths']} times, the last one"
    return f"its worker died {often} so: {health['last_death']}{rests}"

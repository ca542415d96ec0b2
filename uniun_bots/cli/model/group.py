"""`uniun-bots model`: which models are here, get one, use one, delete one."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)
from rich.table import Column, Table

from uniun_bots.cli.commands import Commands
from uniun_bots.cli.folder import console, folder_option, json_option, settings_of
from uniun_bots.errors import EngineError
from uniun_bots.host.control.ask import ask_host
from uniun_bots.host.lease import holder
from uniun_bots.inference import catalogue, hub
from uniun_bots.personas.coherence_of_settings import is_engine_name
from uniun_bots.personas.set_model import set_model
from uniun_bots.personas.settings import DEFAULT_MODEL, HostSettings

PLACES = (
    ("probe", "uniun_bots.cli.model.probe:probe_model", "Measure how reliably MODEL does agentic work."),
)


@click.group(cls=Commands, places=PLACES, epilog="Example: uniun-bots model list --dir my-bots")
def model() -> None:
    """The models of a project folder: list, pull, use, remove, probe."""


@model.command("list", epilog="Example: uniun-bots model list --json")
@folder_option
@json_option
def list_models(folder: Path, as_json: bool) -> None:
    """Models that host.yaml names, that were pulled, and the small one of the package."""
    rows = _rows(folder, settings_of(folder))
    if as_json:
        click.echo(json.dumps(rows))
        return
    table = Table(Column("model", overflow="fold"), "size", "used by", Column("where", overflow="fold"))
    for row in rows:
        table.add_row(
            row["reference"],
            _size(row["size_bytes"]) if row["path"] else "-",
            ", ".join(row["used_by"]),
            row["fault"] or row["path"],
        )
    console().print(table)


@model.command("pull", epilog="Example: uniun-bots model pull hf:Qwen/Qwen3-4B-GGUF/Qwen3-4B-Q4_K_M.gguf")
@click.argument("reference")
@folder_option
def pull(reference: str, folder: Path) -> None:
    """Download `hf:OWNER/REPO/FILE.gguf` into the data folder, or go on with a download that was cut off.

    The checksum is compared. HF_TOKEN is for models behind terms, HF_ENDPOINT for another address of the Hub.
    """
    models = settings_of(folder).models_folder(folder)
    with _progress() as tell:
        found = hub.pull(reference, models, tell, os.environ.get("HF_ENDPOINT"))
    unchecked = "" if found.is_checked else "; the server told no checksum to compare"
    what = "is here already" if found.was_here else "pulled"
    click.echo(f"{what}: {reference} ({_size(found.size_bytes)}) in {found.path}{unchecked}")


@model.command("use", epilog="Example: uniun-bots model use path:models/qwen3-4b.gguf")
@click.argument("reference")
@click.option("--now", is_flag=True, help="Stop what the model is at instead of waiting for it.")
@folder_option
def use(reference: str, now: bool, folder: Path) -> None:
    """Write `model:` into host.yaml. A running host changes over once what runs has ended.

    When the host cannot load it, everything stays as it was. REFERENCE may be the name of an engine of host.yaml;
    that takes effect when the host starts.
    """
    settings = settings_of(folder)
    where = settings.data_folder(folder)
    between_engines = is_engine_name(reference) or is_engine_name(settings.model)
    if not is_engine_name(reference):
        catalogue.whole_files(reference, folder, settings.models_folder(folder))
    runs = holder(where) is not None

    def tell_host() -> None:
        if runs and not between_engines:
            asked = {"model": reference, "now": now}
            asyncio.run(ask_host(where, "POST", "/model", asked, patience_s=None))

    changed = set_model(folder / "host.yaml", reference, tell_host)
    told = "host.yaml says" if changed else "host.yaml said so already:"
    when = "" if not runs else "; the host must be started again" if between_engines else "; the host uses it"
    click.echo(f"{told} {reference}{when}")


@model.command("remove", epilog="Example: uniun-bots model remove hf:Qwen/Qwen3-4B-GGUF/Qwen3-4B-Q4_K_M.gguf")
@click.argument("reference")
@folder_option
def remove(reference: str, folder: Path) -> None:
    """Delete a pulled model, or what came of one that was not pulled to its end."""
    settings = settings_of(folder)
    if users := _used(settings).get(reference):
        raise EngineError(
            f"`{reference}` is used by {', '.join(users)}: `uniun-bots model use` another one first"
        )
    freed = catalogue.remove(reference, settings.models_folder(folder))
    click.echo(f"removed: {reference} ({_size(freed)})")


def _used(settings: HostSettings) -> dict[str, list[str]]:
    """Reference to the places of host.yaml that name it."""
    from uniun_bots.host.model_files import model_places  # With the engines: not for help and listings.

    found: dict[str, list[str]] = {}
    for reference, _, place in model_places(settings):
        found.setdefault(reference, []).append(".".join(place[:2]))
    return found


def _rows(folder: Path, settings: HostSettings) -> list[dict[str, Any]]:
    models, used = settings.models_folder(folder), _used(settings)
    references = dict.fromkeys([*used, *catalogue.pulled(models), DEFAULT_MODEL])
    rows = []
    for reference in references:
        known = catalogue.look(reference, folder, models)
        if known.path or reference in used:
            rows.append(
                {
                    "reference": reference,
                    "size_bytes": known.size_bytes,
                    "used_by": used.get(reference, []),
                    "path": str(known.path) if known.path else None,
                    "fault": known.fault,
                }
            )
    return rows


@contextmanager
def _progress() -> Iterator[hub.Tell]:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    screen = Console(stderr=True)
    with Progress(*columns, console=screen, transient=True, disable=not screen.is_terminal) as progress:
        bars: dict[str, Any] = {}

        def tell(file: str, here: int, total: int | None) -> None:
            if file not in bars:
                bars[file] = progress.add_task(file, total=total)
            progress.update(bars[file], completed=here, total=total)

        yield tell


def _size(size_bytes: int) -> str:
    return f"{size_bytes / 1e6:,.0f} MB" if size_bytes >= 1_000_000 else f"{size_bytes:,} bytes"

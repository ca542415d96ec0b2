"""What most commands share: the project folder, its data, and the way to a host that may be running on it."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click
from rich.console import Console

from uniun_bots.database.read_file import read_file
from uniun_bots.database.store import FILE, Store
from uniun_bots.errors import ConfigError, NotFound
from uniun_bots.host.control.ask import ask_host
from uniun_bots.host.lease import holder, lease
from uniun_bots.personas.load_settings import load_settings
from uniun_bots.personas.project import no_project
from uniun_bots.personas.scalars import duration_s
from uniun_bots.personas.settings import HostSettings

T = TypeVar("T")

folder_option = click.option(
    "--dir", "folder", default=".", type=click.Path(path_type=Path), help="The project folder; default: here."
)
json_option = click.option("--json", "as_json", is_flag=True, help="JSON instead of text.")
manas_option = click.option("--manas", multiple=True, help="Only notes of this Manas; may be given again.")


def duration(_: click.Context, __: click.Parameter, written: str) -> float:
    """Seconds, of an option that takes `30m` or `12h` as files do."""
    try:
        return float(duration_s(written))
    except ValueError as fault:
        raise click.BadParameter(str(fault)) from None


def settings_of(folder: Path) -> HostSettings:
    """Raises ConfigError when host.yaml cannot be read."""
    reading, _ = load_settings(folder / "host.yaml")
    if reading.value is None or reading.faults:
        raise ConfigError(reading.faults)
    return reading.value


def require_project(folder: Path) -> None:
    """Raises ConfigError for what is no project folder."""
    if missing := no_project(folder):
        raise ConfigError(missing)


def data_dir(folder: Path) -> Path:
    """Where the host writes. Raises ConfigError for no project folder, and when host.yaml cannot be read."""
    require_project(folder)
    return settings_of(folder).data_folder(folder)


def read_store(folder: Path, query: Callable[[sqlite3.Connection], T]) -> T:
    """Read-only, beside a running host or without one. Raises NotFound when nothing was ever run here."""
    path = data_dir(folder) / FILE
    if not path.exists():
        raise NotFound(f"{path} does not exist yet: nothing has run here (`uniun-bots run`)")
    return read_file(path, query)


def act(
    folder: Path, path: str, asked: dict[str, Any], unit: Callable[[sqlite3.Connection], Any]
) -> dict[str, Any]:
    """Through the running host when there is one; else under the lease, with our own hands."""
    where = data_dir(folder)
    if holder(where) is not None:
        answer: dict[str, Any] = asyncio.run(ask_host(where, "POST", path, asked))
        return answer

    async def alone() -> dict[str, Any]:
        async with Store(where / FILE) as store:
            return {"result": await store.write(unit)}

    with lease(where):
        return asyncio.run(alone())


def console() -> Console:
    """For tables. What people, models and relays wrote is shown as it is: `[/]` in it is no markup."""
    return Console(markup=False, emoji=False, highlight=False)


def when(at: float | None) -> str:
    """Unix seconds as local time, for people. Strangers write some of them, also beyond all calendars."""
    from datetime import datetime

    try:
        return datetime.fromtimestamp(at).strftime("%Y-%m-%d %H:%M:%S") if at else "-"
    except (ValueError, OverflowError, OSError):
        return "further than a calendar goes"

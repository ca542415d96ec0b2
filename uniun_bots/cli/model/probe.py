"""`uniun-bots model probe`: how reliably a model works in rounds."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from uniun_bots.cli.ending import told
from uniun_bots.cli.folder import act, data_dir, folder_option, json_option, require_project, settings_of
from uniun_bots.cli.model.probe_table import compared, listed
from uniun_bots.clock import WallClock
from uniun_bots.database.read_file import read_file
from uniun_bots.database.store import FILE
from uniun_bots.errors import HostRunning, UniunError
from uniun_bots.host import event_loop, probing
from uniun_bots.host.lease import holder
from uniun_bots.inference.engine import Engine
from uniun_bots.inference.fingerprint import Fingerprint
from uniun_bots.probe.judge import judge
from uniun_bots.probe.load_situations import situations
from uniun_bots.probe.played import Played
from uniun_bots.probe.probes import Probe, played_before, probe_of, probes
from uniun_bots.probe.trust import verdict

STAND_BACK = 10
"""Niceness beside a host, whose own model is waited for."""


@click.command("probe", epilog="Example: uniun-bots model probe path:models/qwen3-4b.gguf --runs 2")
@click.argument("model", required=False)
@click.option(
    "--runs", default=1, show_default=True, type=click.IntRange(1, 100), help="Plays of each situation."
)
@click.option("--again", is_flag=True, help="Forget what was measured of this model, and begin anew.")
@click.option("--list", "listing", is_flag=True, help="What was measured so far, of every model or of MODEL.")
@folder_option
@json_option
def probe_model(
    model: str | None, runs: int, again: bool, listing: bool, folder: Path, as_json: bool
) -> None:
    """Measure how reliably MODEL does agentic work, beside always publishing and always keeping quiet.

    MODEL is a reference as in `model:`, or the name of an engine of host.yaml. Fixed situations are played on it, with
    the prompts, skills and rules of a hosted run; nothing is published. Results are kept in the data folder, play by
    play: stopped with Ctrl-C, the same command goes on. A host may run meanwhile.
    """
    if listing:
        show_list(folder, model, as_json)
        return
    if model is None:
        raise click.UsageError("name a MODEL, or write --list")
    require_project(folder)
    settings = settings_of(folder)
    fingerprint = probing.fingerprint_of(model, settings, folder)
    engine = probing.engine_of(model, settings, folder, os.environ)
    if again:
        _tell(folder, {"forget": fingerprint.key})
    if holder(data_dir(folder)) is not None:
        os.nice(STAND_BACK)  # The model's process takes it over.
    code = event_loop.run(_play(folder, fingerprint, engine, runs))
    if found := _read(folder, fingerprint.key):
        _show(found, model, folder, as_json)
    sys.exit(code)


def show_list(folder: Path, model: str | None, as_json: bool) -> None:
    if model is not None:
        key = probing.fingerprint_of(model, settings_of(folder), folder).key
        found = [one for one in [_read(folder, key)] if one]
    else:
        found = _read_all(folder)
    if as_json:
        click.echo(json.dumps([_as_json(one, one.model.reference, folder) for one in found]))
    elif not found:
        click.echo("nothing was measured yet: `uniun-bots model probe MODEL`")
    elif model is not None:
        _show(found[0], model, folder, as_json)
    else:
        listed(found)


async def _play(folder: Path, model: Fingerprint, engine: Engine, runs: int) -> int:
    """An exit code. What was played before the end stays, whatever the end is."""
    if task := asyncio.current_task():
        for name in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(name, task.cancel)
    path, file = data_dir(folder) / FILE, situations()
    done = read_file(path, lambda tx: played_before(tx, model.key)) if _has_table(path) else set()

    async def keep(digest: str, played: Played) -> None:
        await asyncio.to_thread(_tell, folder, probing.as_asked(model, digest, played))

    try:
        with _progress() as tell:
            await probing.play_missing(engine, file, runs, done, keep, tell)
    except UniunError as fault:
        return told(fault)
    except asyncio.CancelledError:
        click.echo("stopped: what was played is kept, and the same command goes on", err=True)
        return 1
    finally:
        await engine.aclose()
    return 0


def _tell(folder: Path, asked: dict[str, Any]) -> None:
    now = WallClock().now()
    for last in (False, True):
        try:
            act(folder, "/probes", asked, lambda tx: probing.carry_out(tx, asked, now))
            return
        except HostRunning:
            # It started in between, and takes the message by its socket.
            if last:
                raise


def _has_table(path: Path) -> bool:
    query = "SELECT 1 FROM sqlite_master WHERE name = 'probes'"
    return path.exists() and read_file(path, lambda tx: tx.execute(query).fetchone()) is not None


def _read(folder: Path, key: str) -> Probe | None:
    path = data_dir(folder) / FILE
    return read_file(path, lambda tx: probe_of(tx, key, situations())) if _has_table(path) else None


def _read_all(folder: Path) -> list[Probe]:
    path = data_dir(folder) / FILE
    return read_file(path, lambda tx: probes(tx, situations())) if _has_table(path) else []


def _show(found: Probe, model: str, folder: Path, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(_as_json(found, model, folder)))
        return
    compared(found, situations())
    click.echo(verdict(found, model, settings_of(folder).probe).told)


def _as_json(found: Probe, model: str, folder: Path) -> dict[str, Any]:
    file = situations()
    by_name = {one.name: one for one in file.situations}
    plays = [asdict(one) | {"marks": asdict(judge(by_name[one.situation], one))} for one in found.plays]
    return {
        "model": {"reference": found.model.reference, **found.model.facts},
        "at": found.at,
        "rates": asdict(found.rates),
        "missing": found.missing,
        "outdated": found.outdated,
        "trust": str(verdict(found, model, settings_of(folder).probe).trust),
        "plays": plays,
    }


@contextmanager
def _progress() -> Iterator[probing.Tell]:
    columns = (MofNCompleteColumn(), BarColumn(), TimeRemainingColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        bar = progress.add_task("")

        def tell(name: str, done: int, total: int) -> None:
            progress.update(bar, completed=done, total=total, description=name)

        yield tell

"""`uniun-bots notes import`"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import BinaryIO

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from uniun_bots.cli.folder import data_dir, folder_option, json_option
from uniun_bots.cli.notes.keepers import Alone, Keeper, ThroughHost
from uniun_bots.graph.dump import Place, tail_of
from uniun_bots.graph.import_dump import Tally, import_dump
from uniun_bots.host.lease import holder, lease


@click.command("import", epilog="Example: uniun-bots notes import dump.jsonl --dir my-bots")
@click.argument("dump", metavar="FILE", type=click.Path(path_type=Path, allow_dash=True))
@folder_option
@json_option
def import_notes(dump: Path, folder: Path, as_json: bool) -> None:
    """Keep the events of a dump as notes: one JSON object on each line, as nak and strfry write them.

    FILE may be - for standard input. Ids and signatures are checked; what is known already changes nothing. Bad
    lines are counted and passed over. An import that was stopped goes on where it stood. Works beside a running
    host and without one.
    """
    try:
        if str(dump) == "-":
            tally = asyncio.run(_import(sys.stdin.buffer, None, data_dir(folder)))
        else:
            with dump.open("rb") as opened:
                tally = asyncio.run(_import(opened, str(dump.resolve()), data_dir(folder)))
    except KeyboardInterrupt:
        click.echo("stopped; the same command goes on from there", err=True)
        sys.exit(1)
    _tell(dump, tally, as_json)
    if tally.bad and not tally.new + tally.known + tally.other + tally.passed:
        sys.exit(1)


async def _import(opened: BinaryIO, file: str | None, where: Path) -> Tally:
    """`file`: the whole path, when it is one that can be read again."""
    with ExitStack() as stack:
        keeper: Keeper = ThroughHost(where)
        if holder(where) is None:
            stack.enter_context(lease(where))
            keeper = Alone(where)
        bar = stack.enter_context(_progress(hidden=file is None))
        task = bar.add_task("importing", total=os.fstat(opened.fileno()).st_size if file else None)
        async with keeper.opened():
            start = await _start(opened, file, keeper)
            if start.line:
                click.echo(f"going on after line {start.line:,}", err=True)
            tally = await import_dump(
                opened,
                start,
                file,
                keeper.known,
                keeper.take,
                lambda at: bar.update(task, completed=at.offset),
            )
            if file:
                await keeper.through(file)
            return tally


async def _start(opened: BinaryIO, file: str | None, keeper: Keeper) -> Place:
    """Where an import of this file stopped, if what stands before that place is still the same."""
    mark = await keeper.mark(file) if file else None
    if mark and tail_of(opened, mark.offset) == mark.tail:
        return Place(mark.offset, mark.line)
    if file:
        opened.seek(0)
    return Place()


def _progress(*, hidden: bool) -> Progress:
    """On a terminal only, and to standard error."""
    screen = Console(stderr=True, markup=False)
    columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
    return Progress(*columns, console=screen, disable=hidden or not screen.is_terminal, transient=True)


def _tell(dump: Path, tally: Tally, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(asdict(tally)))
        return
    told = [
        f"{tally.new:,} new notes",
        f"{tally.known:,} known",
        f"{tally.other:,} profiles and deletions",
        f"{tally.passed:,} of kinds that are not kept",
        f"{tally.expired:,} expired",
        f"{tally.bad:,} bad lines",
    ]
    click.echo(f"{dump}: {tally.lines:,} lines: {', '.join(told)}")
    for line in tally.told:
        click.echo(f"  {line}", err=True)
    if tally.bad > len(tally.told):
        click.echo(f"  and {tally.bad - len(tally.told):,} more", err=True)

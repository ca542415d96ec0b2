"""What stands before a yes, at the command line: the same for skills and templates, to look at and to install."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path

import click

from uniun_bots.cli.folder import settings_of
from uniun_bots.relays.nip05 import Nip05
from uniun_bots.sharing.fetch import Where
from uniun_bots.sharing.gate import Gate, Offered, look


async def gate_of(
    folder: Path, offered: Offered, where: Where | None, known: Iterable[str], what: str = "skill"
) -> Gate:
    """`where` is None for a local file. Behind a proxy no domain is asked."""
    settings = settings_of(folder)
    async with Nip05(proxied=settings.proxy is not None) as names:
        return await look(offered, where, names, owner=settings.owner, known=known, what=what)


def show_gate(gate: Gate, *, as_json: bool = False) -> None:
    """All that a person is to know before a yes. In a terminal no line of the text begins without its number."""
    if as_json:
        click.echo(json.dumps(gate.as_json()))
        return
    columns = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    for line in gate.lines(columns):
        click.echo(line)

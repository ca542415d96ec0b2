"""`uniun-bots doctor`"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import click

from uniun_bots.cli.folder import data_dir, folder_option, json_option
from uniun_bots.database.store import FILE, Store
from uniun_bots.errors import NotFound
from uniun_bots.host.control.ask import ask_host
from uniun_bots.host.lease import holder, lease


@click.command(epilog="Example: uniun-bots doctor --fix --dir my-bots")
@click.option("--fix", is_flag=True, help="Make anew what disagrees.")
@folder_option
@json_option
def doctor(fix: bool, folder: Path, as_json: bool) -> None:
    """Check that words, vectors and ties agree with the notes. Exit code 1 when something is wrong and stays so.

    The notes themselves are never changed.
    """
    found = _examined(data_dir(folder), fix)
    if as_json:
        click.echo(json.dumps(found))
    else:
        for one in found["checks"]:
            _show(one)
    if not found["ok"]:
        sys.exit(1)


def _examined(where: Path, fix: bool) -> dict[str, Any]:
    if holder(where) is not None:
        answer: dict[str, Any] = asyncio.run(ask_host(where, "POST", "/doctor", {"fix": fix}, None))
        return answer
    if not (where / FILE).exists():
        raise NotFound(f"{where / FILE} does not exist yet: nothing has run here (`uniun-bots run`)")

    async def alone() -> dict[str, Any]:
        from uniun_bots.host.doctor import as_json, examine

        async with Store(where / FILE) as store:
            return as_json(await examine(store, fix=fix))

    with lease(where):
        return asyncio.run(alone())


def _show(one: dict[str, Any]) -> None:
    if not one["wrong"]:
        click.echo(f"ok      {one['check']}")
    for wrong in one["wrong"]:
        click.echo(f"{'mended' if one['mended'] else 'WRONG '}  {one['check']}: {wrong}")

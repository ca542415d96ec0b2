"""`uniun-bots notes search`"""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import click
from rich.table import Table

from uniun_bots.cli.folder import (
    console,
    data_dir,
    folder_option,
    json_option,
    manas_option,
    settings_of,
    when,
)
from uniun_bots.cli.manas.rows import check_manas
from uniun_bots.database.store import FILE
from uniun_bots.errors import NotFound
from uniun_bots.host.control.ask import ask_host
from uniun_bots.host.lease import holder, lease
from uniun_bots.nostr.text import cut

PREVIEW_CHARS = 200
PATIENCE_S = 60.0


@click.command(
    "search", epilog="Example: uniun-bots notes search 'when does the ferry leave' --manas harbour"
)
@click.argument("question")
@manas_option
@click.option("--limit", type=click.IntRange(1, 1000), default=10, show_default=True, help="Notes at most.")
@folder_option
@json_option
def search(question: str, manas: tuple[str, ...], limit: int, folder: Path, as_json: bool) -> None:
    """Notes by their words and by their meaning, the best first. Exit code 1 when none is found.

    A running host is asked; without one the embedder is started for this question.
    """
    found = _found(folder, {"question": question, "manas": list(manas), "limit": limit})
    if as_json:
        click.echo(json.dumps(found["notes"]))
    else:
        _show(found)
    if not found["notes"]:
        raise NotFound("no note is found")


def _found(folder: Path, asked: dict[str, Any]) -> dict[str, Any]:
    where = data_dir(folder)
    if holder(where) is not None:
        answer: dict[str, Any] = asyncio.run(ask_host(where, "POST", "/notes/search", asked, PATIENCE_S))
        return answer
    check_manas(folder, asked["manas"])
    file = where / FILE
    if not file.exists():
        raise NotFound(f"{file} does not exist yet: nothing has run here (`uniun-bots run`)")
    from uniun_bots.host.searching import find_notes_alone

    with lease(where):
        return asyncio.run(find_notes_alone(folder, file, settings_of(folder), os.environ, asked))


def _show(found: dict[str, Any]) -> None:
    table = Table("note", "date", "author", "text")
    for note in found["notes"]:
        text = " ".join(note["text"].split())
        table.add_row(note["id"][:12], when(note["created_at"]), note["by"], cut(text, PREVIEW_CHARS))
    if found["notes"]:
        console().print(table)
    if found["words_alone"]:
        click.echo(f"by words alone: {found['words_alone']}", err=True)

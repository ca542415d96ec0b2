"""`uniun-bots notes`: the note graph from outside."""

from __future__ import annotations

import click

from uniun_bots.cli.notes_export import export
from uniun_bots.cli.notes_graph import graph
from uniun_bots.cli.notes_import import import_notes
from uniun_bots.cli.notes_search import search
from uniun_bots.cli.notes_show import show


@click.group(epilog="Example: uniun-bots notes search 'when does the ferry leave' --dir my-bots")
def notes() -> None:
    """The notes of a project folder: search, show one, look at the graph, import, export."""


notes.add_command(search)
notes.add_command(show)
notes.add_command(graph)
notes.add_command(import_notes)
notes.add_command(export)

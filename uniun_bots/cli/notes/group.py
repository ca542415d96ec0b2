"""`uniun-bots notes`: the note graph from outside."""

from __future__ import annotations

import click

from uniun_bots.cli.commands import Commands

PLACES = (
    (
        "search",
        "uniun_bots.cli.notes.search:search",
        "Notes by their words and by their meaning, the best first.",
    ),
    ("show", "uniun_bots.cli.notes.show:show", "One note."),
    ("graph", "uniun_bots.cli.notes.graph:graph", "Write one HTML file in which people explore the graph."),
    ("import", "uniun_bots.cli.notes.import_notes:import_notes", "Keep the events of a dump as notes."),
    ("export", "uniun_bots.cli.notes.export:export", "Write public notes as signed events."),
)


@click.group(
    cls=Commands,
    places=PLACES,
    epilog="Example: uniun-bots notes search 'when does the ferry leave' --dir my-bots",
)
def notes() -> None:
    """The notes of a project folder: search, show one, look at the graph, import, export."""

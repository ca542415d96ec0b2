"""`uniun-bots init`"""

from __future__ import annotations

from pathlib import Path

import click

from uniun_bots.personas.new_project import new_project


@click.command(epilog="Example: uniun-bots init my-bots")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
def init(folder: Path) -> None:
    """Make a project folder with one example persona. Nothing that is there is overwritten."""
    for path in new_project(folder):
        click.echo(f"wrote {path}")
    click.echo(f"\nNext: read {folder / 'README.md'}, then `uniun-bots check {folder}`")

"""`uniun-bots notes graph`"""

from __future__ import annotations

from pathlib import Path

import click

from uniun_bots.cli.folder import folder_option, manas_option, read_store
from uniun_bots.cli.manas.rows import check_manas
from uniun_bots.cli.notes.argument import note_id
from uniun_bots.cli.notes.picture_page import MARK, MARK_WITHIN, page
from uniun_bots.errors import AlreadyThere, NotFound
from uniun_bots.graph.picture import Picture, picture
from uniun_bots.graph.scope import Scope
from uniun_bots.nostr.reference import spell_note
from uniun_bots.personas.replace_file import replace_file


@click.command("graph", epilog="Example: uniun-bots notes graph --manas life-lessons --out graph.html")
@click.option("--around", help="What lies around this note, hop by hop, not the newest notes.")
@manas_option
@click.option(
    "--most", default=2000, show_default=True, type=click.IntRange(1, 20_000), help="Notes at most."
)
@click.option("--out", required=True, type=click.Path(path_type=Path, dir_okay=False), help="The HTML file.")
@folder_option
def graph(around: str | None, manas: tuple[str, ...], most: int, out: Path, folder: Path) -> None:
    """Write one HTML file in which people explore the graph: zoom, drag, search, click a note to read it.

    It needs no network and holds the notes themselves; private ones are left out. An older picture is replaced, any
    other file is not.
    """
    check_manas(folder, manas)
    start = note_id(folder, around) if around else None
    scope = Scope(manas=manas) if manas else Scope(everything=True)
    found = read_store(folder, lambda tx: picture(tx, scope, most, start))
    if start and not found.notes:
        raise NotFound(f"{spell_note(start)} is not known here, was deleted, or is private")
    if out.exists() and MARK not in out.read_text(encoding="utf-8", errors="replace")[:MARK_WITHIN]:
        raise AlreadyThere(str(out))
    title = f"Notes of {', '.join(manas) if manas else folder.resolve().name}"
    replace_file(out, page(found, title, start))
    click.echo(
        f"wrote {out}: {len(found.notes)} notes, {len(found.edges)} edges, {_shared(found)} shared topics"
    )


def _shared(found: Picture) -> int:
    return sum(len(places) > 1 for _, places in found.topics)

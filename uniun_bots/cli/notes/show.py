"""`uniun-bots notes show`"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path

import click

from uniun_bots.cli.folder import folder_option, json_option, read_store, when
from uniun_bots.cli.notes.argument import note_id
from uniun_bots.errors import NotFound
from uniun_bots.graph.around_note import AroundNote, Neighbour, around_note
from uniun_bots.nostr.reference import spell_note


@click.command("show", epilog="Example: uniun-bots notes show note1… --dir my-bots")
@click.argument("note")
@folder_option
@json_option
def show(note: str, folder: Path, as_json: bool) -> None:
    """One note: its text, what it names and what names it, topics, surfaces, Manas, memory, and where it was heard.

    NOTE is its id in any spelling, or the first 8 or more hex digits of it, as listings show them. What Ganas made of
    it is told by `explain`.
    """
    wanted = note_id(folder, note)
    found = read_store(folder, lambda tx: around_note(tx, wanted))
    if found is None:
        raise NotFound(f"{spell_note(wanted)} is not known here")
    click.echo(json.dumps(dataclasses.asdict(found)) if as_json else "\n".join(lines_of_note(found)))


def lines_of_note(found: AroundNote) -> list[str]:
    note = found.note
    lines = [
        f"{spell_note(note.id)} (kind {note.kind}, {note.origin})",
        f"{_whence(found)}, {when(note.created_at)}",
    ]
    if note.deleted:
        lines.append("deleted by its author: no search, no prompt and no skill shows it any more")
    if found.audience:
        lines.append(f"private: only for {found.audience}")
    lines += ["", *(f"  {line}" for line in note.text.splitlines()), ""]
    lines += _edges("names", found.names) + _edges("named by", found.named_by)
    for title, values in (("topics", found.topics), ("surfaces", found.surfaces), ("manas", found.manas)):
        lines += [f"{title}: {', '.join(values)}"] if values else []
    if found.memory or found.no_memory:
        lines.append(f"memory: {found.memory or found.no_memory}")
    return lines + [f"heard from {relay} at {when(at)}" for relay, at in found.heard]


def _whence(found: AroundNote) -> str:
    if found.file:
        return f"from the file {found.file} in manas/"
    author = found.note.author
    return f"by {found.author_name} ({author})" if found.author_name else f"by {author}"


def _spelled(note: str) -> str:
    return note if ":" in note else spell_note(note)


def _edges(title: str, neighbours: Sequence[Neighbour]) -> list[str]:
    return [
        f"{title} {_spelled(one.note)} ({one.kind}): {'not known here' if one.preview is None else one.preview}"
        for one in neighbours
    ]

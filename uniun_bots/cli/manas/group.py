"""`uniun-bots manas`: the named parts of the note graph."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import click

from uniun_bots.cli.folder import act, console, folder_option, json_option, read_store, when
from uniun_bots.cli.listing import listing
from uniun_bots.cli.manas.entries import ONE, change_command, import_entries
from uniun_bots.cli.manas.rows import bring_up, unit_of
from uniun_bots.errors import NotFound
from uniun_bots.graph.find import COLUMNS, as_note
from uniun_bots.graph.note import Note
from uniun_bots.graph.scope import Scope, count, from_where
from uniun_bots.personas.edit_manas import add_to_manas, remove_from_manas
from uniun_bots.personas.manas import Manas, Named
from uniun_bots.personas.names import is_name
from uniun_bots.personas.project import Project, load_project

PREVIEW = 80


@click.group(epilog="Example: uniun-bots manas list --dir my-bots")
def manas() -> None:
    """Named parts of the notes that personas may read: list, show, add, remove, import."""


@manas.command("list", epilog="Example: uniun-bots manas list --json")
@folder_option
@json_option
def list_manas(folder: Path, as_json: bool) -> None:
    """Every Manas with the number of its notes and the personas that use it."""
    project = bring_up(folder)
    found = [_summary(folder, project, one) for one in project.manas]
    if as_json:
        click.echo(json.dumps(found))
        return
    console().print(listing(("Manas", "notes", "names", "used by", "description"), map(_row, found)))
    if not found:
        click.echo("no Manas yet: make one with `uniun-bots manas add NAME --file FOLDER`", err=True)


@manas.command("show", epilog="Example: uniun-bots manas show life-lessons --limit 50")
@click.argument("name")
@click.option(
    "--limit",
    type=click.IntRange(0, 1000),
    default=20,
    show_default=True,
    help="Notes to show, the newest first.",
)
@folder_option
@json_option
def show_manas(name: str, limit: int, folder: Path, as_json: bool) -> None:
    """What a Manas names, and the newest of its notes."""
    project = bring_up(folder)
    one = next((one for one in project.manas if one.name == name), None)
    if one is None:
        raise NotFound(
            f"there is no Manas {name}; there are: {', '.join(m.name for m in project.manas) or 'none'}"
        )
    notes = read_store(folder, lambda tx: _newest(tx, name, limit))
    found = {**_summary(folder, project, one), "named": _named(one), "excluded": _named(one.exclude)}
    if as_json:
        click.echo(json.dumps({**found, "newest": [_as_json(note) for note in notes]}))
        return
    click.echo(
        f"{name}: {found['notes']:,} notes, used by {', '.join(found['used_by']) or 'nobody'} ({one.file})"
    )
    for title, entries in (("names", found["named"]), ("excludes", found["excluded"])):
        for key, values in entries.items():
            click.echo(f"  {title} {key}: {', '.join(values[:5])}{', …' if len(values) > 5 else ''}")
    for note in notes:
        click.echo(f"{when(note.created_at)}  {note.id[:8]}  {_preview(note.text)}")


@manas.command("add", epilog="Example: uniun-bots manas add life-lessons --topic gardening --file lessons/")
@change_command
def add(name: str, entries: dict[str, list[str]], excluded: bool, folder: Path) -> None:
    """Name something in a Manas; makes the file when there is none. Comments in it stay."""
    if not is_name(name):
        raise click.UsageError("a Manas has a name of a-z, 0-9 and -, such as life-lessons")
    added = add_to_manas(_path(folder, name), entries, excluded=excluded)
    _after_change(folder)
    click.echo(f"{name}: {added} added{' to `exclude`' if excluded else ''}")


@manas.command("remove", epilog="Example: uniun-bots manas remove life-lessons --topic gardening")
@change_command
def remove(name: str, entries: dict[str, list[str]], excluded: bool, folder: Path) -> None:
    """Take something out of a Manas. The notes stay notes; comments in the file stay."""
    _check_there(folder, name)
    removed = remove_from_manas(_path(folder, name), entries, excluded=excluded)
    if not removed:
        raise NotFound(f"{name} does not name that{' in `exclude`' if excluded else ''}: nothing was changed")
    _after_change(folder)
    click.echo(f"{name}: {removed} removed{' from `exclude`' if excluded else ''}")


@manas.command("import", epilog="Example: uniun-bots manas import life-lessons ids.jsonl")
@click.argument("name")
@click.argument("source", type=click.Path(path_type=Path))
@folder_option
def import_into(name: str, source: Path, folder: Path) -> None:
    """Name a folder of markdown files, or the notes of a JSONL file: an id, or an event, on each line.

    Only names are taken from a file of events: `uniun-bots notes import` takes the notes themselves.
    """
    if not is_name(name):
        raise click.UsageError("a Manas has a name of a-z, 0-9 and -, such as life-lessons")
    entries, bad = import_entries(source, folder / "manas")
    if not any(entries.values()):
        raise NotFound(f"{source} names nothing that could be imported ({len(bad)} bad lines)")
    added = add_to_manas(_path(folder, name), entries)
    _after_change(folder)
    click.echo(f"{name}: {added} added, {len(bad)} bad lines")
    for line in bad[:20]:
        click.echo(f"  {line}", err=True)


def _path(folder: Path, name: str) -> Path:
    load_project(folder)
    return folder / "manas" / f"{name}.yaml"


def _check_there(folder: Path, name: str) -> None:
    if not _path(folder, name).exists():
        known = [one.name for one in load_project(folder).manas]
        raise NotFound(f"there is no Manas {name}; there are: {', '.join(known) or 'none'}")


def _after_change(folder: Path) -> None:
    """A running host reads the folder again, and asks relays for what is new."""
    act(folder, "/reload", {}, unit_of(load_project(folder)))


def _summary(folder: Path, project: Project, one: Manas) -> dict[str, Any]:
    return {
        "name": one.name,
        "description": one.description,
        "file": one.file,
        "notes": read_store(folder, lambda tx: count(tx, Scope(manas=(one.name,)))),
        "names": {key: len(values) for key, values in _named(one).items()},
        "used_by": [gana.id for gana in project.ganas if one.name in gana.manas],
    }


def _row(one: dict[str, Any]) -> tuple[str, ...]:
    names = ", ".join(f"{number} {ONE[key] if number == 1 else key}" for key, number in one["names"].items())
    return one["name"], f"{one['notes']:,}", names, ", ".join(one["used_by"]), one["description"] or ""


def _named(named: Named) -> dict[str, list[str]]:
    return {key: list(values) for key in Named.model_fields if (values := getattr(named, key))}


def _newest(tx: sqlite3.Connection, name: str, limit: int) -> list[Note]:
    source, parameters = from_where(Scope(manas=(name,)))
    rows = tx.execute(
        f"SELECT {COLUMNS} {source} ORDER BY n.created_at DESC, n.seq DESC LIMIT ?", (*parameters, limit)
    )
    return [as_note(row) for row in rows]


def _as_json(note: Note) -> dict[str, Any]:
    return {
        "id": note.id,
        "author": note.author,
        "kind": note.kind,
        "created_at": note.created_at,
        "origin": note.origin,
        "text": note.text,
    }


def _preview(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= PREVIEW else f"{line[: PREVIEW - 1]}…"

"""What people name on the command line for a Manas, as entries of its file."""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from uniun_bots.cli.folder import folder_option
from uniun_bots.errors import BadReference, NotFound
from uniun_bots.nostr.references import parse_reference

Entries = dict[str, list[str]]
KEYS = {
    "note": "notes",
    "author": "authors",
    "topic": "topics",
    "group": "groups",
    "address": "addresses",
    "file": "files",
}
ONE = {many: one for one, many in KEYS.items()}
_HELP = {
    "note": "A note, as note, nevent or hex.",
    "author": "A person, as npub, nprofile or hex.",
    "topic": "A topic.",
    "group": "A public group: the id of its kind-40 event.",
    "address": "A long-form note, as naddr or 30023:KEY:D.",
    "file": "A markdown file or a folder of them.",
}


def change_command(command: Callable[..., None]) -> Callable[..., None]:
    """The argument NAME, an option for each thing that can be named, `--exclude` and `--dir`."""

    @functools.wraps(command)
    def called(name: str, folder: Path, exclude: bool, **given: Any) -> None:
        entries = {KEYS[option]: list(values) for option, values in given.items() if values}
        if not entries:
            raise click.UsageError(f"name something: {', '.join(f'--{option}' for option in KEYS)}")
        if "files" in entries:
            entries["files"] = [in_manas(Path(one), folder / "manas") for one in entries["files"]]
        command(name, entries, exclude, folder)

    called = folder_option(called)
    called = click.option("--exclude", is_flag=True, help="What is never a member.")(called)
    for option in reversed(KEYS):
        called = click.option(f"--{option}", multiple=True, help=f"{_HELP[option]} May be given again.")(
            called
        )
    return click.argument("name")(called)


def in_manas(path: Path, manas_folder: Path) -> str:
    """As the file says it: relative to the folder of the Manas; one that is there already stays as it is."""
    if not path.is_absolute() and ((manas_folder / path).exists() or not path.exists()):
        return str(path)
    return os.path.relpath(path.resolve(), manas_folder.resolve())


def import_entries(source: Path, manas_folder: Path) -> tuple[Entries, list[str]]:
    """And the bad lines. Raises NotFound for what is neither."""
    if source.is_dir():
        return {"files": [in_manas(source, manas_folder)]}, []
    try:
        lines = source.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError:
        raise NotFound(f"{source} is no text: a folder, or a JSONL file of ids is wanted") from None
    ids: dict[str, None] = {}
    bad: list[str] = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            ids[_id_in(line)] = None
        except BadReference as fault:
            bad.append(f"line {number:,}: {fault}")
    return {"notes": list(ids)}, bad


def _id_in(line: str) -> str:
    """A bare id, a JSON text, or an object with an `id`."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        found = line
    if isinstance(found, dict):
        found = found.get("id")
    if not isinstance(found, str):
        # A bare id of digits only would be read as a number.
        found = line
    return parse_reference(found, "note")

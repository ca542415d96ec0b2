"""A note as people name it: any spelling of its id, or the beginning that listings show."""

from __future__ import annotations

import re
from pathlib import Path

import click

from uniun_bots.cli.folder import read_store
from uniun_bots.errors import BadReference, NotFound
from uniun_bots.graph.find import ids_beginning
from uniun_bots.nostr.references import parse_reference

_BEGINNING = re.compile(r"[0-9a-f]{8,63}")
SHOWN = 5


def note_id(folder: Path, written: str) -> str:
    """Hex. A beginning is looked for among the notes here. Raises NotFound."""
    beginning = written.strip().lower()
    if _BEGINNING.fullmatch(beginning):
        return _only_one(beginning, read_store(folder, lambda tx: ids_beginning(tx, beginning, SHOWN)))
    try:
        return parse_reference(written, "note")
    except BadReference as fault:
        raise click.UsageError(str(fault)) from fault


def _only_one(beginning: str, found: list[str]) -> str:
    if not found:
        raise NotFound(f"no note here begins with {beginning}")
    if len(found) > 1:
        raise click.UsageError(f"several notes begin with {beginning}: {', '.join(found)}")
    return found[0]

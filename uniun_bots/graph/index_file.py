"""The index on disk: a file that usearch wrote, and beside it what it was made of.

The note beside it is replaced last and in one step, and holds a digest. So whatever happens in the middle of writing,
and whatever happens to the bytes afterwards, an index is loaded whole or not at all.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
from dataclasses import dataclass
from pathlib import Path

from uniun_bots.graph.embeddings import Registered
from uniun_bots.graph.vector_index import Mark, VectorIndex, empty

log = logging.getLogger(__name__)

NOTE = "vectors.json"
SUFFIX = ".usearch"
LAYOUT = 1
"""Counted up when the same vectors would be written another way."""


@dataclass(frozen=True, slots=True)
class Beside:
    """What stands beside an index file."""

    file: str
    digest: str
    stamp: str
    width: int
    change: int
    gone: int
    count: int
    layout: int = LAYOUT


def save(folder: Path, index: VectorIndex, embedder: Registered) -> None:
    """Blocking. Raises OSError, and then the file from before is still there."""
    folder.mkdir(parents=True, exist_ok=True)
    mark, count = index.mark, len(index)
    file = folder / f"vectors-{mark.change}-{mark.gone}-{os.getpid()}{SUFFIX}"
    try:
        index.usearch.save(str(file))
        _to_disk(file)
        beside = Beside(file.name, _digest(file), embedder.stamp, index.width, mark.change, mark.gone, count)
        new = folder / f"{NOTE}.new"
        new.write_text(json.dumps({name: getattr(beside, name) for name in Beside.__slots__}))
        _to_disk(new)
        new.replace(folder / NOTE)
    except RuntimeError as fault:
        # How usearch tells a full disk.
        file.unlink(missing_ok=True)
        raise OSError(f"{file} cannot be written: {fault}") from fault
    index.unsaved = 0
    _remove_all_but(folder, file.name)


def load(folder: Path, embedder: Registered, newest: Mark) -> VectorIndex | None:
    """None when there is none that was made of this table and is whole. `newest`: the last change in the table."""
    beside = read_beside(folder)
    if beside is None:
        return None
    if why := _unfit(folder, beside, embedder, newest):
        log.warning("search: the index file is not used and made anew: %s", why)
        return None
    loaded = empty(embedder.width)
    try:
        loaded.load(str(folder / beside.file))
    except (RuntimeError, ValueError, OSError) as fault:
        log.warning("search: the index file is not used and made anew: %s", fault)
        return None
    if len(loaded) != beside.count or loaded.ndim != embedder.width:
        return None
    return VectorIndex(embedder.width, Mark(beside.change, beside.gone), loaded)


def read_beside(folder: Path) -> Beside | None:
    try:
        return Beside(**json.loads((folder / NOTE).read_text()))
    except (OSError, ValueError, TypeError):
        return None


def _unfit(folder: Path, beside: Beside, embedder: Registered, newest: Mark) -> str:
    """Empty when it can be used. The digest is looked at last: it reads the whole file."""
    if beside.layout != LAYOUT:
        return "it is of another version"
    if (beside.stamp, beside.width) != (embedder.stamp, embedder.width):
        return "it is of another embedder or of another store"
    if beside.change > newest.change or beside.gone > newest.gone:
        return "it knows more than the store, which was restored from an older copy"
    return damage(folder, beside)


def damage(folder: Path, beside: Beside) -> str:
    """Empty when the file is as it was written."""
    try:
        return "" if _digest(folder / beside.file) == beside.digest else "its bytes have changed"
    except OSError as fault:
        return str(fault)


def strays(folder: Path, beside: Beside | None) -> list[str]:
    """Index files that nothing names: left by a process that died while it wrote."""
    return sorted(file.name for file in folder.glob(f"*{SUFFIX}") if not beside or file.name != beside.file)


def remove(folder: Path) -> None:
    (folder / NOTE).unlink(missing_ok=True)
    _remove_all_but(folder, "")


def _remove_all_but(folder: Path, kept: str) -> None:
    for file in folder.glob(f"*{SUFFIX}"):
        if file.name != kept:
            file.unlink(missing_ok=True)


def _digest(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "blake2b").hexdigest()


def _to_disk(file: Path) -> None:
    with file.open("rb") as opened:
        os.fsync(opened.fileno())

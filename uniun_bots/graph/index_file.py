"""The index on disk: files that usearch wrote, one for each part, and beside them what they were made of.

The note beside it is replaced last and in one step, and holds a digest. So whatever happens in the middle of writing,
and whatever happens to the bytes afterwards, an index is loaded whole or not at all.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from uniun_bots.graph.embeddings import Registered
from uniun_bots.graph.vector_index import Mark, VectorIndex, empty

log = logging.getLogger(__name__)

NOTE = "vectors.json"
SUFFIX = ".usearch"
LAYOUT = 2
"""Counted up when the same vectors would be written another way."""


@dataclass(frozen=True, slots=True)
class Beside:
    """What stands beside the index files."""

    files: dict[str, str]
    """Names in the order of the parts, with their digests."""
    stamp: str
    width: int
    change: int
    gone: int
    count: int
    layout: int = LAYOUT


def save(folder: Path, index: VectorIndex, embedder: Registered) -> None:
    """Blocking. Raises OSError, and then the file from before is still there."""
    folder.mkdir(parents=True, exist_ok=True)
    mark = index.mark
    files = [
        folder / f"vectors-{mark.change}-{mark.gone}-{place}-{os.getpid()}{SUFFIX}"
        for place in range(len(index.parts))
    ]
    try:
        for file, part in zip(files, index.parts, strict=True):
            part.save(str(file))
            _to_disk(file)
        written = {file.name: _digest(file) for file in files}
        beside = Beside(written, embedder.stamp, index.width, mark.change, mark.gone, len(index))
        new = folder / f"{NOTE}.new"
        new.write_text(json.dumps({name: getattr(beside, name) for name in Beside.__slots__}))
        _to_disk(new)
        new.replace(folder / NOTE)
    except RuntimeError as fault:
        # How usearch tells a full disk.
        for file in files:
            file.unlink(missing_ok=True)
        raise OSError(f"{folder} cannot be written: {fault}") from fault
    index.unsaved = 0
    _remove_all_but(folder, written)


def load(folder: Path, embedder: Registered, newest: Mark) -> VectorIndex | None:
    """None when there is none that was made of this table and is whole. `newest`: the last change in the table."""
    beside = read_beside(folder)
    if beside is None:
        return None
    if why := _unfit(folder, beside, embedder, newest):
        log.warning("search: the index file is not used and made anew: %s", why)
        return None
    try:
        parts = [_part(folder / name, embedder.width) for name in beside.files]
    except (RuntimeError, ValueError, OSError) as fault:
        log.warning("search: the index file is not used and made anew: %s", fault)
        return None
    found = VectorIndex(embedder.width, Mark(beside.change, beside.gone), parts)
    return found if len(found) == beside.count else None


def _part(file: Path, width: int) -> Any:
    part = empty(width)
    part.load(str(file))
    if part.ndim != width:
        raise ValueError(f"{file} is of width {part.ndim}")
    return part


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
        same = all(_digest(folder / name) == digest for name, digest in beside.files.items())
        return "" if same else "its bytes have changed"
    except OSError as fault:
        return str(fault)


def strays(folder: Path, beside: Beside | None) -> list[str]:
    """Index files that nothing names: left by a process that died while it wrote."""
    return sorted(
        file.name for file in folder.glob(f"*{SUFFIX}") if not beside or file.name not in beside.files
    )


def remove(folder: Path) -> None:
    (folder / NOTE).unlink(missing_ok=True)
    _remove_all_but(folder, ())


def _remove_all_but(folder: Path, kept: Collection[str]) -> None:
    for file in folder.glob(f"*{SUFFIX}"):
        if file.name not in kept:
            file.unlink(missing_ok=True)


def _digest(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "blake2b").hexdigest()


def _to_disk(file: Path) -> None:
    with file.open("rb") as opened:
        os.fsync(opened.fileno())

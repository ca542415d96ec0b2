"""Names that come from file names: Ganas, Manas and relay sets."""

from __future__ import annotations

import re
from pathlib import Path

_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
LONGEST = 64


def is_name(text: str) -> bool:
    return len(text) <= LONGEST and _NAME.fullmatch(text) is not None


def name_fault(path: Path) -> str | None:
    if is_name(path.stem):
        return None
    better = re.sub(r"[^a-z0-9]+", "-", path.stem.lower()).strip("-")[:LONGEST] or "my-persona"
    return f"file names are 1 to {LONGEST} of a-z, 0-9 and -: rename it to {better}{path.suffix.lower()}"


def files_in(folder: Path, *suffixes: str) -> list[Path]:
    """In order of name; hidden files and readmes are nobody's."""
    if not folder.is_dir():
        return []
    return sorted(
        path
        for path in folder.iterdir()
        if path.suffix.lower() in suffixes and not path.name.startswith(".") and path.stem.lower() != "readme"
    )

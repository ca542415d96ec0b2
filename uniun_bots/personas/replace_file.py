"""Write a file of a project anew: whole, or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

_MODE = 0o644


def replace_file(path: Path, text: str, check: Callable[[Path], None] | None = None) -> None:
    """`check` gets the new file before it takes the place of the old one, and raises to stop that."""
    mode = path.stat().st_mode & 0o777 if path.exists() else _MODE
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as opened:
            os.fchmod(opened.fileno(), mode)
            opened.write(text)
            opened.flush()
            os.fsync(opened.fileno())
        if check:
            check(Path(temporary))
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise

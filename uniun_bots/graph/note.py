"""A note: any message kept in the graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Origin = Literal["relay", "own", "draft"]
DELETED, REPLACED = 1, 2
"""In the column `deleted`: by its author, or by a newer version of itself."""


@dataclass(frozen=True, slots=True)
class Note:
    seq: int
    """Local arrival number: the only order that cursors use."""
    id: str
    author: str
    kind: int
    created_at: int
    text: str
    """Content without control characters, a long-form note's title on top; the signed bytes are kept beside it."""
    origin: Origin
    heard_at: float
    root: str | None
    """Note id of the thread's root (NIP-10, NIP-28: the kind-40 id), None at the top of a thread."""
    parent: str | None
    """Note id that this one answers."""
    deleted: bool
    """Or replaced by a newer version."""

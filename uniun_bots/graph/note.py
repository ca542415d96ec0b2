"""A note: any message kept in the graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Origin = Literal["relay", "own", "draft"]


@dataclass(frozen=True, slots=True)
class Note:
    seq: int
    """Local arrival number: the only order that cursors use."""
    id: str
    author: str
    kind: int
    created_at: int
    text: str
    """Content without control characters; the signed bytes are kept beside it, unchanged."""
    origin: Origin
    heard_at: float
    root: str | None
    """Note id of the thread's root (NIP-10, NIP-28: the kind-40 id), None at the top of a thread."""
    parent: str | None
    """Note id that this one answers."""
    deleted: bool

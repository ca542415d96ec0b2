"""A verified event as the rooms above see it: plain values, no SDK object."""

from __future__ import annotations

from dataclasses import dataclass

Tag = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Event:
    """NIP-01 event. `id` and `author` are 64 lower-case hex characters; `created_at` is Unix seconds."""

    id: str
    author: str
    created_at: int
    kind: int
    tags: tuple[Tag, ...]
    content: str
    raw: bytes
    """The whole signed event as JSON in UTF-8, as it goes over the wire."""

    def tag_values(self, name: str) -> list[str]:
        return [tag[1] for tag in self.tags if len(tag) > 1 and tag[0] == name]


@dataclass(frozen=True, slots=True)
class Draft:
    """An event without author, id and signature: what a signer is given."""

    kind: int
    content: str
    tags: tuple[Tag, ...]
    created_at: int

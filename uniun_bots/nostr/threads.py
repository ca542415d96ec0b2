"""Where an event stands in its conversation: NIP-10, NIP-28, NIP-22, NIP-18 quotes."""

from __future__ import annotations

from dataclasses import dataclass

from uniun_bots.nostr.event import Event, Tag
from uniun_bots.nostr.event_id import is_id

TAGS_READ = 1000
CITATIONS_KEPT = 100

CHANNEL_MESSAGE = 42
COMMENT = 1111
# Short notes, chat messages and files (NIP-17), group messages: all reply by NIP-10 tags.
_REPLYING = frozenset({1, 14, 15, CHANNEL_MESSAGE, 9023})
_NAMES = frozenset({"e", "E", "q"})
_MARKERS = ("root", "reply", "mention")


@dataclass(frozen=True, slots=True)
class Thread:
    """Note ids, each a lower-case hex id; the two lists are distinct and in the order of the tags."""

    root: str | None
    """The kind-40 id for a channel message; None at the top of a thread."""
    parent: str | None
    """What is answered; None at the top of a thread and directly in a channel."""
    quotes: tuple[str, ...]
    mentions: tuple[str, ...]
    """Named by an `e` tag, but neither root nor parent."""


_ALONE = Thread(None, None, (), ())


def read_thread(event: Event) -> Thread:
    tags = [tag for tag in event.tags[:TAGS_READ] if len(tag) > 1 and tag[0] in _NAMES and is_id(tag[1])]
    if not tags:
        return _ALONE
    quotes = _distinct([tag[1] for tag in tags if tag[0] == "q"])
    if event.kind == COMMENT:
        root, parent = _first(tags, "E"), _first(tags, "e")
    elif event.kind in _REPLYING:
        root, parent = _root_and_parent(tags)
    else:
        root = parent = None
    if event.kind == CHANNEL_MESSAGE and parent == root:
        parent = None
    mentions = _distinct([tag[1] for tag in tags if tag[0] == "e" and tag[1] != root and tag[1] != parent])
    return Thread(root, parent, quotes, mentions)


def _root_and_parent(tags: list[Tag]) -> tuple[str | None, str | None]:
    by_marker: dict[str, list[str]] = {"root": [], "reply": [], "mention": [], "": []}
    for tag in tags:
        if tag[0] == "e":
            by_marker[_marker(tag)].append(tag[1])
    roots, replies, unmarked = by_marker["root"], by_marker["reply"], by_marker[""]
    if replies:
        # Some clients copy the parent's own `reply` tag in front of theirs: the last one is meant.
        return (roots or replies[-1:])[0], replies[-1]
    if roots:
        return roots[0], roots[0]
    if unmarked:
        return unmarked[0], unmarked[-1]
    return None, None


def _marker(tag: Tag) -> str:
    """Markers stand in the fourth place; clients that put a key or nothing there shift them by one."""
    for item in tag[2:5]:
        if item in _MARKERS:
            return item
    return ""


def _first(tags: list[Tag], name: str) -> str | None:
    return next((tag[1] for tag in tags if tag[0] == name), None)


def _distinct(ids: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(ids))[:CITATIONS_KEPT]

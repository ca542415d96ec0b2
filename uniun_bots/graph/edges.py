"""What a note names, as edges: NIP-10 and NIP-28 (root, reply, mention), NIP-18 (quote), and links in its text.

A target is a note id or an address; it may be unknown here, and the edge holds all the same once it is known.
"""

from __future__ import annotations

from uniun_bots.graph.versions import author_of
from uniun_bots.nostr.event import Event
from uniun_bots.nostr.references import references_in
from uniun_bots.nostr.threads import TAGS_READ, Thread

MOST_EDGES = 200
"""Kept of one note; contact-list-like notes carry thousands of tags."""
Edge = tuple[str, str]
"""Kind and target."""
_MARKED = ("root", "reply")


def edges_of(event: Event, thread: Thread, text: str) -> list[Edge]:
    edges = [(kind, target) for kind, target in (("root", thread.root), ("reply", thread.parent)) if target]
    edges += [("mention", note_id) for note_id in thread.mentions]
    edges += [("quote", note_id) for note_id in thread.quotes]
    edges += _to_addresses(event)
    named = {target for _, target in edges}
    # `nostr:` in the text says no more than that it is named, unless a tag says what for.
    edges += [("mention", target) for target in linked_in(text) if target not in named and target != event.id]
    return list(dict.fromkeys(edges))[:MOST_EDGES]


def linked_in(text: str) -> list[str]:
    """Ids and addresses of the notes that a text links to."""
    return list(dict.fromkeys(r.target for r in references_in(text) if r.form in ("note", "nevent", "naddr")))


def _to_addresses(event: Event) -> list[Edge]:
    edges: list[Edge] = []
    for tag in event.tags[:TAGS_READ]:
        if len(tag) > 1 and tag[0] in ("a", "q") and author_of(tag[1]):
            marker = next((item for item in tag[2:5] if item in _MARKED), "mention")
            edges.append(("quote" if tag[0] == "q" else marker, tag[1]))
    return edges

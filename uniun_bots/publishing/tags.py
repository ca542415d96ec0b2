"""The tags of what we publish, computed from the persona file and the turn and from nothing else.

NIP-10 (kind 1), NIP-28 (kind 42), NIP-18 (`q`).
"""

from __future__ import annotations

from collections.abc import Sequence

from uniun_bots.graph.note import Note
from uniun_bots.nostr.event import Tag
from uniun_bots.personas.gana import OutputType, References


def thread_tags(output: OutputType, group: str | None, answered: Note | None, hint: str) -> tuple[Tag, ...]:
    """One root, and below the top level one reply; `p` of the answered author only."""
    if output is OutputType.GROUP:
        root: tuple[Tag, ...] = (("e", group or "", hint, "root"),)
        reply: tuple[Tag, ...] = (("e", answered.id, hint, "reply"),) if answered else ()
    elif answered is None:
        return ()
    elif answered.root and answered.root != answered.id:
        root = (("e", answered.root, hint, "root"),)
        reply = (("e", answered.id, hint, "reply", answered.author),)
    else:
        root, reply = (("e", answered.id, hint, "root", answered.author),), ()
    person: tuple[Tag, ...] = (("p", answered.author),) if answered else ()
    return root + reply + person


def reference_tags(
    output: OutputType, style: References, references: Sequence[str], hint: str
) -> tuple[Tag, ...]:
    """Cited notes: `e` with a mention marker; in kind 1 also `q`, so that clients show a quote, not a thread."""
    tags: list[Tag] = []
    for note_id in references:
        if style is References.E:
            tags.append(("e", note_id, hint, "mention"))
        if style is References.Q or output is OutputType.FEED:
            tags.append(("q", note_id, hint))
    return tuple(tags)

"""Surfaces: where notes flow, as text such as `group:<kind-40 id>`."""

from __future__ import annotations

from dataclasses import dataclass

from uniun_bots.nostr.event import Event
from uniun_bots.nostr.event_id import is_id
from uniun_bots.nostr.filter import Filter
from uniun_bots.nostr.threads import CHANNEL_MESSAGE, TAGS_READ, read_thread

SHORT_NOTE = 1
PEOPLE_READ = 100
PRIVATE = frozenset({"dm", "private-group"})


@dataclass(frozen=True, slots=True)
class Surface:
    kind: str
    ref: str
    """What follows the first colon; `<own>:<peer>` for a conversation, empty for `timer`."""

    @classmethod
    def parse(cls, text: str) -> Surface:
        kind, _, ref = text.partition(":")
        return cls(kind, ref)

    def __str__(self) -> str:
        return f"{self.kind}:{self.ref}" if self.ref else self.kind


def audience_of(surface: str) -> str | None:
    """The conversation whose private notes belong to this surface; None for a public one."""
    return surface if Surface.parse(surface).kind in PRIVATE else None


def surfaces_of(event: Event) -> tuple[str, ...]:
    """Every surface that an event from a relay stands on, without doubles."""
    if event.kind == CHANNEL_MESSAGE:
        channel = read_thread(event).root
        return (f"group:{channel}",) if channel else ()
    if event.kind == SHORT_NOTE:
        people = tuple(f"mentions:{person}" for person in people_tagged(event))
        return (f"user:{event.author}", *people, *_threads(event))
    return ()


def _threads(event: Event) -> tuple[str, ...]:
    """Of the note that it answers, and of the one at the top: what only mentions a note does not answer it."""
    thread = read_thread(event)
    return tuple(f"thread:{note_id}" for note_id in dict.fromkeys((thread.parent, thread.root)) if note_id)


def people_tagged(event: Event) -> tuple[str, ...]:
    """The first 100 distinct people of the `p` tags; what is not a public key is passed over."""
    people = [tag[1] for tag in event.tags[:TAGS_READ] if len(tag) > 1 and tag[0] == "p" and is_id(tag[1])]
    return tuple(dict.fromkeys(people))[:PEOPLE_READ]


def filter_of(surface: str) -> Filter:
    """What to ask relays for. Raises ValueError for surfaces that no plain filter can ask for."""
    found = Surface.parse(surface)
    match found.kind:
        case "group":
            return Filter(kinds=(CHANNEL_MESSAGE,), tags=(("e", (found.ref,)),))
        case "user":
            return Filter(kinds=(SHORT_NOTE,), authors=(found.ref,))
        case "mentions":
            return Filter(kinds=(SHORT_NOTE,), tags=(("p", (found.ref,)),))
        case "thread":
            return Filter(kinds=(SHORT_NOTE,), tags=(("e", (found.ref,)),))
    raise ValueError(f"no filter asks for {found.kind}: use group, user, mentions or thread")

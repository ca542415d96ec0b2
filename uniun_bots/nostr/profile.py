"""What a kind-0 event says about its author, read tolerantly: unknown is a human without a name."""

from __future__ import annotations

import json
from dataclasses import dataclass

from uniun_bots.nostr.event import Event
from uniun_bots.nostr.text import clean, cut

LONGEST_NAME = 100
LONGEST_ABOUT = 1000


@dataclass(frozen=True, slots=True)
class Profile:
    pubkey: str
    name: str
    """One line of at most 100 characters, written by a stranger; empty when none is given."""
    about: str
    """Cleaned, at most 1,000 characters; empty when nothing is said."""
    is_bot: bool
    created_at: int
    nip05: str = ""
    """A name of a domain that the author claims; nobody has checked it."""


def read_profile(event: Event) -> Profile:
    said = _said(event.content)
    names = (_one_line(said.get(key)) for key in ("name", "display_name", "displayName"))
    about = said.get("about")
    return Profile(
        pubkey=event.author,
        name=next((name for name in names if name), ""),
        about=cut(clean(about).strip(), LONGEST_ABOUT) if isinstance(about, str) else "",
        is_bot=said.get("bot") is True or said.get("bot") == "true",
        created_at=event.created_at,
        nip05=_one_line(said.get("nip05")),
    )


def _said(content: str) -> dict[str, object]:
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _one_line(value: object) -> str:
    return cut(" ".join(clean(value).split()), LONGEST_NAME) if isinstance(value, str) else ""

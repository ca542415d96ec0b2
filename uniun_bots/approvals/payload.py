"""What is done when a person says yes. Each kind is all that is needed to do it: nothing is decided later."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from enum import StrEnum

from uniun_bots.nostr.event import Tag


class Action(StrEnum):
    PUBLISH = "publish"
    REMIND = "remind-me"
    SHARE = "share-external"


@dataclass(frozen=True, slots=True)
class Unsigned:
    """A note as pin would have signed it, but for the time and the signature."""

    author: str
    """The public key that signs."""
    kind: int
    content: str
    tags: tuple[Tag, ...]
    relays: tuple[str, ...]
    surface: str | None
    """The surface our own note will stand on; None for a feed note at top level."""
    people: tuple[str, ...] = ()
    """Authors in the turn: the only ones that the text may mention."""


@dataclass(frozen=True, slots=True)
class Reminder:
    """A private note to the owner of the host."""

    text: str
    at: float
    """When it is sent, Unix seconds."""


@dataclass(frozen=True, slots=True)
class Share:
    """A text for the webhook that the owner configured."""

    text: str


Payload = Unsigned | Reminder | Share

_ACTIONS: dict[type[Payload], Action] = {
    Unsigned: Action.PUBLISH,
    Reminder: Action.REMIND,
    Share: Action.SHARE,
}


def action_of(payload: Payload) -> Action:
    return _ACTIONS[type(payload)]


def text_of(payload: Payload) -> str:
    return payload.content if isinstance(payload, Unsigned) else payload.text


def written(payload: Payload) -> str:
    """As it stands in the table."""
    return json.dumps(asdict(payload), ensure_ascii=False, sort_keys=True)


def read(action: Action, text: str) -> Payload:
    found = json.loads(text)
    match action:
        case Action.REMIND:
            return Reminder(**found)
        case Action.SHARE:
            return Share(**found)
    tags = tuple(tuple(tag) for tag in found["tags"])
    return Unsigned(
        **{**found, "tags": tags, "relays": tuple(found["relays"]), "people": tuple(found["people"])}
    )


def digest_of(payload: Payload) -> str:
    """The same for what is the same to a person: a run that is tried again reckons another time for its reminder."""
    meant = payload.text if isinstance(payload, Reminder) else written(payload)
    return hashlib.sha256(meant.encode()).hexdigest()

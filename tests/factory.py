"""Events, notes and hosted Ganas for tests that need no relay: unsigned, with true ids, on throw-away keys."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any

from uniun_bots.nostr.event import Draft, Event
from uniun_bots.nostr.event_id import event_id
from uniun_bots.personas.gana import Gana
from uniun_bots.personas.hosted import HostedGana
from uniun_bots.relays.heard import Heard

NOW = 1_750_000_000
RELAY = "wss://relay.example"


def hex_of(name: str) -> str:
    """A public key or note id that is the same in every run."""
    return hashlib.sha256(f"test fixture {name}".encode()).hexdigest()


ALICE, BOB, CAROL, BOT, SECOND_BOT = map(hex_of, ("alice", "bob", "carol", "bot", "second bot"))
CHANNEL = hex_of("channel")
GROUP = f"group:{CHANNEL}"
MENTIONS = f"mentions:{BOT}"


def event(
    content: str = "hello",
    *tags: Sequence[str],
    author: str = ALICE,
    kind: int = 1,
    at: int = NOW,
) -> Event:
    draft = Draft(kind, content, tuple(map(tuple, tags)), at)
    found = event_id(author, draft)
    fields = {"id": found, "pubkey": author, "created_at": at, "kind": kind, "tags": draft.tags}
    raw = json.dumps(fields | {"content": content, "sig": "0" * 128}).encode()
    return Event(found, author, at, kind, draft.tags, content, raw)


def message(
    content: str = "hello", *, answers: Event | None = None, author: str = ALICE, at: int = NOW
) -> Event:
    """Kind 42 in CHANNEL."""
    tags = [["e", CHANNEL, "", "root"]]
    if answers:
        tags += [["e", answers.id, "", "reply"], ["p", answers.author]]
    return event(content, *tags, author=author, kind=42, at=at)


def mention(
    content: str = "hello", *, answers: Event | str | None = None, author: str = ALICE, at: int = NOW
) -> Event:
    """Kind 1 with the bot's `p` tag."""
    tags = [["p", BOT]]
    if answers:
        tags.append(["e", answers if isinstance(answers, str) else answers.id, "", "reply"])
    return event(content, *tags, author=author, at=at)


def deletion(*targets: Event, author: str = ALICE, at: int = NOW) -> Event:
    return event("", *[["e", target.id] for target in targets], author=author, kind=5, at=at)


def profile(author: str = ALICE, at: int = NOW, **said: object) -> Event:
    return event(json.dumps(said), author=author, kind=0, at=at)


def heard(*events: Event, at: float = NOW, relay: str = RELAY) -> list[Heard]:
    return [Heard(one, relay, at) for one in events]


def gana(name: str = "harbour-master", **fields: Any) -> Gana:
    """Answers in CHANNEL, every message at once, unless `fields` say otherwise; keys as in a persona file."""
    given: dict[str, Any] = {
        "id": name,
        "file": f"personas/{name}.md",
        "name": name,
        "identity": "env:HARBOUR_NSEC",
        "mode": "live",
        "input": {"type": "group", "ref": CHANNEL},
        "output": {"type": "group", "ref": "same"},
        "trigger": "every-message",
        "debounce": "0s",
        "task": "Say when the tide comes.",
    }
    return Gana.model_validate(given | fields)


def hosted(given: Gana | None = None, pubkey: str = BOT) -> HostedGana:
    given = given or gana()
    return HostedGana(given, pubkey, given.input_surface(pubkey), (RELAY,), (RELAY,))


def hosted_on_mentions(**fields: Any) -> HostedGana:
    given: dict[str, Any] = {"input": {"type": "mentions"}, "output": {"type": "feed", "reply": True}}
    return hosted(gana(**(given | fields)))

"""Fetch what a reference names from several relays: exactly that event, or the newest of an address."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from uniun_bots import failpoints
from uniun_bots.errors import BadManifest, Deleted, Gone, NotFetched, NotText
from uniun_bots.nostr.event import Event
from uniun_bots.nostr.filter import Filter
from uniun_bots.nostr.read import verify
from uniun_bots.relays.door import Door
from uniun_bots.relays.hints import Resolve, public_hints
from uniun_bots.sharing.event import SKILL, Form, read_manifest
from uniun_bots.sharing.reference import Wanted, spell_event
from uniun_bots.sharing.verify import reason_of

PATIENCE_S = 5.0
_OTHERS = "`--relays SET` asks others"
MOST_STEPS = 50
"""From a version that was replaced to the newest."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """As relays gave it: nothing but the signature, and that it is what was asked for, is known."""

    event: Event
    deletions: tuple[Event, ...]
    """By the same author, naming it or its address."""
    relays: tuple[str, ...]
    """Which had it."""


@dataclass(frozen=True, slots=True)
class Where:
    """Whom to ask, and how."""

    door: Door
    relays: tuple[str, ...]
    """Configured ones: they need not be public."""
    follow_hints: bool = True
    patience_s: float = PATIENCE_S
    resolve: Resolve | None = None
    """Stands in for looking names up."""

    async def with_hints(self, hints: Iterable[str]) -> Where:
        """Relays that a stranger named too, as far as they are on the public internet."""
        more = await public_hints(hints, self.resolve) if self.follow_hints else []
        relays = tuple(dict.fromkeys((*self.relays, *more)))
        return Where(self.door, relays, self.follow_hints, self.patience_s, self.resolve)

    async def ask(self, *filters: Filter) -> dict[str, list[Event]]:
        """What each relay that answered has, by its URL. Only events that fit one of the filters and are signed."""
        asked = [self.door.fetch_whole(filters, url, self.patience_s) for url in self.relays]
        answers = await asyncio.gather(*asked)
        return {
            url: [event for event in events if _fits(event, filters)]
            for url, events in zip(self.relays, answers, strict=True)
            if events is not None
        }


def _fits(event: Event, filters: Sequence[Filter]) -> bool:
    return any(one.matches(event) for one in filters) and verify(event)


async def fetch(
    where: Where, wanted: Wanted, form: Form = SKILL, author_of: Callable[[str], str | None] = lambda _: None
) -> Fetched:
    """Raises NotFetched, Gone or Deleted. `author_of` knows the authors of events that were installed before."""
    where = await where.with_hints(wanted.hints)
    answers = await where.ask(_filter(wanted, form))
    found = newest(event for events in answers.values() for event in events)
    if found is None:
        known = wanted.author or (author_of(wanted.event_id) if wanted.event_id else None)
        raise await _why_not(where, answers, wanted, known, form)
    relays = tuple(url for url, events in answers.items() if found.id in {one.id for one in events})
    deletions = await deletions_of(where, found)
    failpoints.hit("fetched")
    return Fetched(found, deletions, relays)


def newest(events: Iterable[Event]) -> Event | None:
    """NIP-01: the latest, and of two in one second the lower id."""
    return min(events, key=lambda event: (-event.created_at, event.id), default=None)


def _filter(wanted: Wanted, form: Form) -> Filter:
    if wanted.event_id is not None:
        return Filter(ids=(wanted.event_id,))
    return Filter(kinds=(form.kind,), authors=(wanted.author or "",), tags=(("d", (wanted.d,)),))


async def deletions_of(where: Where, event: Event) -> tuple[Event, ...]:
    """A relay may hide them, so that all are asked."""
    answers = await where.ask(*deletion_filters(event))
    found = {one.id: one for events in answers.values() for one in events}
    return tuple(found.values())


def deletion_filters(event: Event) -> tuple[Filter, ...]:
    return _deletions(event.author, [event.id], _addresses(event))


def _addresses(event: Event) -> list[str]:
    """Of the name and of the version, whichever of the two this is."""
    d = next(iter(event.tag_values("d")), "")
    version = next(iter(event.tag_values("version")), "")
    name = d.partition("@")[0]
    return [f"{event.kind}:{event.author}:{one}" for one in dict.fromkeys((d, name, f"{name}@{version}"))]


def _deletions(author: str, ids: Sequence[str], addresses: Sequence[str]) -> tuple[Filter, ...]:
    tags = [(letter, tuple(values)) for letter, values in (("e", ids), ("a", addresses)) if values]
    return tuple(Filter(kinds=(5,), authors=(author,), tags=(tag,)) for tag in tags)


# nothing was found -----------------------------------------------------------------------------------


async def _why_not(
    where: Where, answers: dict[str, list[Event]], wanted: Wanted, author: str | None, form: Form
) -> NotFetched | Deleted:
    if not answers:
        return NotFetched(f"none of the relays answered: {', '.join(where.relays) or 'there are none'}")
    asked = ", ".join(answers)
    if author is None:
        return NotFetched(
            f"none of the relays has it: {asked}. Its author may have replaced it: nevent1… or npub1…/name name the"
            f" author, so that the newer version can be found. {_OTHERS}"
        )
    if taken := await _taken_back(where, wanted, author, form):
        return Deleted("its author took it back", reason_of(taken))
    follower = await _follower(where, wanted, author, form) if wanted.event_id else None
    if follower is None:
        return NotFetched(f"none of the relays has it: {asked}. {_OTHERS}")
    manifest = read_manifest(follower, form)
    return Gone(
        f"none of the relays has it any more: its author replaced it by {manifest.name} {manifest.version}",
        spell_event(follower.id, follower.author, follower.kind),
    )


async def _taken_back(where: Where, wanted: Wanted, author: str, form: Form) -> Event | None:
    ids = [wanted.event_id] if wanted.event_id else []
    addresses = [wanted.address(form)] if wanted.d else []
    answers = await where.ask(*_deletions(author, ids, addresses))
    return newest(one for events in answers.values() for one in events)


async def _follower(where: Where, wanted: Wanted, author: str, form: Form) -> Event | None:
    """The newest version that a chain of `v` leads to, by the same author: a stranger can claim whatever they like."""
    event_id, found = wanted.event_id or "", None
    for _ in range(MOST_STEPS):
        after = Filter(kinds=(form.kind,), authors=(author,), tags=(("v", (event_id,)),))
        answers = await where.ask(after)
        step = newest(event for events in answers.values() for event in events if _is_manifest(event, form))
        if step is None or step.id == event_id:
            break
        event_id, found = step.id, step
    return found


def _is_manifest(event: Event, form: Form) -> bool:
    try:
        read_manifest(event, form)
    except (BadManifest, NotText):
        return False
    return True

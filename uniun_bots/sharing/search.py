"""Find skills of others: what relays have, each verified, with what may be said of it before anything is fetched."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

from uniun_bots.errors import NotFetched, SharingRefused
from uniun_bots.nostr.event import Event
from uniun_bots.nostr.filter import Filter
from uniun_bots.nostr.profile import read_profile
from uniun_bots.nostr.text import cut
from uniun_bots.sharing.event import SKILL, Form
from uniun_bots.sharing.fetch import Where, newest
from uniun_bots.sharing.verify import VerifiedSkill, takes_back, verified_skill

LABELS = "skill-security"
MOST_LABELS, MOST_WORDS, LONGEST_WORD = 10, 10, 40
"""Of one skill, in one label, of one word in characters: anybody may say anything of it."""
MOST_IN_ONE = 200
"""Values of one condition: relays refuse longer ones."""


@dataclass(frozen=True, slots=True)
class Label:
    """What somebody said of a skill (NIP-32, kind 1985)."""

    event_id: str
    by: str
    said: tuple[str, ...]
    target: str
    """Event id, address or key."""


@dataclass(frozen=True, slots=True)
class Offer:
    """The newest version of a skill, as its author gives it out."""

    found: VerifiedSkill
    author_name: str
    """As the author calls themselves; empty when no relay has a profile."""
    labels: tuple[Label, ...]


async def search(
    where: Where,
    words: Sequence[str],
    now: float,
    *,
    author: str | None = None,
    topic: str | None = None,
    form: Form = SKILL,
) -> list[Offer]:
    """Newest first; all words stand in name, description or topics. Raises NotFetched when no relay answers."""
    wanted = Filter(
        kinds=(form.kind,), authors=(author,) if author else (), tags=(("t", (topic or form.topic,)),)
    )
    answers = await where.ask(wanted)
    if not answers:
        raise NotFetched(f"none of the relays answered: {', '.join(where.relays) or 'there are none'}")
    heads = _heads(event for events in answers.values() for event in events)
    found = [one for event in heads if (one := _good(event, now, form)) and _has(one, words)]
    return await _told(where, await _standing(where, found))


def _heads(events: Iterable[Event]) -> list[Event]:
    """One for each name of each author, never the one of a version."""
    by_address: dict[tuple[str, str], list[Event]] = {}
    for event in events:
        d = next(iter(event.tag_values("d")), "")
        if "@" not in d:
            by_address.setdefault((event.author, d), []).append(event)
    return [found for some in by_address.values() if (found := newest(some))]


def _good(event: Event, now: float, form: Form) -> VerifiedSkill | None:
    """What would not be installed is not offered."""
    try:
        return verified_skill(event, now, (), form)
    except SharingRefused:
        return None


def _has(one: VerifiedSkill, words: Sequence[str]) -> bool:
    said = " ".join((one.manifest.name, one.skill.description, *one.manifest.topics)).casefold()
    return all(word.casefold() in said for word in words)


async def _standing(where: Where, found: list[VerifiedSkill]) -> list[VerifiedSkill]:
    """Without those that their author took back."""
    ids = [one.manifest.event.id for one in found]
    addresses = [one.manifest.address for one in found]
    authors = tuple(dict.fromkeys(one.manifest.author for one in found))
    asked = [Filter(kinds=(5,), authors=authors, tags=(tag,)) for tag in _tags(("e", ids), ("a", addresses))]
    answers = await where.ask(*asked) if asked else {}
    deletions = [event for events in answers.values() for event in events]
    standing = [one for one in found if not any(takes_back(gone, one.manifest) for gone in deletions)]
    return sorted(standing, key=lambda one: (-one.manifest.event.created_at, one.manifest.event.id))


async def _told(where: Where, found: list[VerifiedSkill]) -> list[Offer]:
    names, labels = await asyncio.gather(_names(where, found), labels_of(where, found))
    return [
        Offer(
            one,
            names.get(one.manifest.author, ""),
            tuple(label for label in labels if _is_of(label, one))[:MOST_LABELS],
        )
        for one in found
    ]


async def _names(where: Where, found: Sequence[VerifiedSkill]) -> dict[str, str]:
    authors = tuple(dict.fromkeys(one.manifest.author for one in found))
    answers = await where.ask(Filter(kinds=(0,), authors=authors)) if authors else {}
    profiles = [event for events in answers.values() for event in events]
    newest_of = {one: newest(event for event in profiles if event.author == one) for one in authors}
    return {one: read_profile(event).name or "" for one, event in newest_of.items() if event}


async def labels_of(where: Where, found: Sequence[VerifiedSkill]) -> list[Label]:
    """By anybody at all: whose word counts, the reader decides."""
    targets = label_targets(found)
    asked = [Filter(kinds=(1985,), tags=(tag,)) for tag in _tags(*targets)]
    answers = await where.ask(*asked) if asked else {}
    events = {event.id: event for events in answers.values() for event in events}
    return [label for event in events.values() for label in read_labels(event)]


def label_targets(found: Sequence[VerifiedSkill]) -> tuple[tuple[str, list[str]], tuple[str, list[str]]]:
    ids = [one.manifest.event.id for one in found]
    addresses = [address for one in found for address in (one.manifest.address, one.manifest.pinned_address)]
    return ("e", ids), ("a", addresses)


def read_labels(event: Event) -> list[Label]:
    """One for each thing that it labels, of the namespace for skills alone."""
    words = (
        cut(tag[1], LONGEST_WORD)
        for tag in event.tags
        if tag[0] == "l" and len(tag) > 1 and (len(tag) < 3 or tag[2] == LABELS)
    )
    said = tuple(islice(words, MOST_WORDS))
    if event.kind != 1985 or LABELS not in event.tag_values("L") or not said:
        return []
    targets = [value for name in ("e", "a") for value in event.tag_values(name)]
    return [Label(event.id, event.author, said, target) for target in dict.fromkeys(targets)]


def _is_of(label: Label, one: VerifiedSkill) -> bool:
    known = (one.manifest.event.id, one.manifest.address, one.manifest.pinned_address)
    return label.target in known


def _tags(*given: tuple[str, list[str]]) -> list[tuple[str, tuple[str, ...]]]:
    """In parts that relays take."""
    return [
        (letter, tuple(values[start : start + MOST_IN_ONE]))
        for letter, values in given
        for start in range(0, len(values), MOST_IN_ONE)
    ]

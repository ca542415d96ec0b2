"""References in the text of notes and in settings; see NIP-19, NIP-21 and NIP-27."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from itertools import islice
from typing import Literal

from uniun_bots.errors import BadBech32, BadReference
from uniun_bots.nostr.event import Event
from uniun_bots.nostr.reference import NOTES, PEOPLE, Reference, read_reference
from uniun_bots.nostr.text import clean

REFERENCES_READ = 100
TOPICS_READ = 100
_CHARACTERS_READ = 64 * 1024
_LONGEST_TOPIC = 100

# The shortest reference of any form, 32 bytes of payload behind the shortest prefix, has 63 characters.
_SHORTEST = 63
_SPELLED = r"(?:nostr:)?((?:npub|nprofile|note|nevent|naddr)1[0-9a-z]+)"
# Glued to letters or digits it is plain text; punctuation around it and other scripts are not part of it.
_STANDING = re.compile(rf"(?<![0-9a-z]){_SPELLED}", re.IGNORECASE | re.ASCII)
_ANYWHERE = re.compile(_SPELLED, re.IGNORECASE | re.ASCII)
_SECRET_PREFIX = re.compile(r"(nsec|ncryptsec)1", re.IGNORECASE | re.ASCII)
# Some clients shorten what they link to: `nostr:note1...` is a citation as well.
_CITATION = re.compile(
    r"(?<![0-9a-z])(?:nostr:)?((?:note|nevent|naddr)1[0-9a-z]*)(?:\.\.\.|…)?", re.IGNORECASE | re.ASCII
)
_QUOTED_LINE = re.compile(r"^[ \t]*>.*(?:\n|\Z)", re.MULTILINE)
_HEX = re.compile(r"[0-9a-fA-F]+")

_WANTED = {
    "note": (NOTES, "a note: 64 hex characters, note1… or nevent1…"),
    "pubkey": (PEOPLE, "a person: 64 hex characters, npub1… or nprofile1…"),
}
_NAMES = {
    "npub": "a person",
    "nprofile": "a person",
    "note": "a note",
    "nevent": "a note",
    "naddr": "an address, which names whatever version is newest,",
}


def references_in(text: str) -> list[Reference]:
    """Valid references in their order; at most 100 candidates in the first 64 Ki characters are tried."""
    return [found for _, found in _standing(text[:_CHARACTERS_READ]) if found]


def pubkeys_named(text: str) -> set[str]:
    return {found.target for found in references_in(text) if found.form in PEOPLE}


def notes_named(text: str) -> set[str]:
    return {found.target for found in references_in(text) if found.form in NOTES}


def own_words(text: str) -> str:
    """What the author says: without `>` lines and citations of notes; empty when nothing else was said.

    Of a text beyond 64 Ki characters only the beginning is read.
    """

    def kept(match: re.Match[str]) -> str:
        linked = match[0][:6].lower() == "nostr:"
        return "" if linked or _read(match[1]) else match[0]

    return _CITATION.sub(kept, _QUOTED_LINE.sub("", text[:_CHARACTERS_READ])).strip()


def make_inert(text: str, allowed: Collection[str]) -> str:
    """Shorten each reference whose target is not allowed, so that no client renders or follows it.

    `allowed` holds public keys, note ids and addresses. Clients differ in what they decode out of glued or
    mixed-case text, so everything long enough to hold a reference is shortened.
    """

    def readable(match: re.Match[str]) -> str:
        spelled = match[1]
        if len(spelled) < _SHORTEST:
            return match[0]
        stands = _STANDING.match(text, match.start()) is not None
        found = _read(spelled) if stands else None
        if found and found.target in allowed:
            return match[0]
        return f"{spelled[:12]}…{spelled[-4:]}"

    return _ANYWHERE.sub(readable, text)


def topics_of(event: Event) -> tuple[str, ...]:
    """The `t` tags in lower case, without `#`, distinct, at most 100."""
    topics = (normal_topic(value) for value in event.tag_values("t"))
    return tuple(islice(dict.fromkeys(topic for topic in topics if topic), TOPICS_READ))


def normal_topic(written: str) -> str:
    """One spelling per topic; empty when it is none, or too long for one."""
    topic = " ".join(clean(written).split()).lstrip("#").strip().lower()
    return topic if len(topic) <= _LONGEST_TOPIC else ""


def parse_reference(text: str, want: Literal["note", "pubkey"]) -> str:
    """Lower-case hex for what stands in a setting. Raises BadReference, naming what was given."""
    forms, wanted = _WANTED[want]
    given = text.strip()
    if given[:6].lower() == "nostr:":
        given = given[6:]
    if _SECRET_PREFIX.match(given):
        raise BadReference(f"a secret key does not belong here: remove it and write {wanted}")
    if _HEX.fullmatch(given):
        if len(given) != 64:
            raise BadReference(f"{_shown(given)} has {len(given)} hex characters: write {wanted}")
        return given.lower()
    try:
        found = read_reference(given)
    except BadBech32 as error:
        if _STANDING.fullmatch(given):
            raise BadReference(f"{_shown(given)} cannot be read ({error}): write {wanted}") from None
        raise BadReference(f"{_shown(given)} is no key or id: write {wanted}") from None
    if found.form not in forms:
        raise BadReference(f"{_shown(given)} names {_NAMES[found.form]} ({found.form}): write {wanted}")
    return found.target


def _standing(text: str) -> Iterator[tuple[re.Match[str], Reference | None]]:
    for match in islice(_STANDING.finditer(text), REFERENCES_READ):
        yield match, _read(match[1])


def _read(spelled: str) -> Reference | None:
    if len(spelled) < _SHORTEST:
        return None
    try:
        return read_reference(spelled)
    except BadBech32:
        return None


def _shown(given: str) -> str:
    """A long hex text may be a piece of a secret: only its ends are told."""
    return repr(given) if len(given) <= 24 else repr(f"{given[:12]}…{given[-4:]}")

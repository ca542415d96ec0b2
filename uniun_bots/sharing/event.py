"""The event that carries a skill or a template: a NIP-SKL manifest whose content is the text itself.

An address holds one event, so each version is published twice: under its name, which follows updates, and under
`name@version`, whose id stays. docs/spec/skill-event.md is the format for other implementers.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

from uniun_bots.errors import BadManifest, NotText
from uniun_bots.nostr.event import Draft, Event, Tag
from uniun_bots.nostr.event_id import is_id
from uniun_bots.personas.names import is_name
from uniun_bots.personas.settings import SKILL_KIND
from uniun_bots.personas.shown import shown
from uniun_bots.sharing.versions import Version, read_version

LARGEST_BYTES = 65_536
NO_RIGHTS = "none"
_ONCE = ("d", "name", "version", "description", "manifest_hash", "expiry")
_MOST_TAGS = 200
_LATEST = 2**53


@dataclass(frozen=True, slots=True)
class Form:
    """What is shared in this way, and by which kind and topic others find it."""

    what: str
    topic: str
    kind: int = SKILL_KIND


SKILL = Form("skill", "agent-skill")


@dataclass(frozen=True, slots=True)
class Manifest:
    """What the tags of an event say, each of them well-formed. Nothing in it is verified yet."""

    event: Event
    name: str
    """Of the skill or template: `d` without a version."""
    version: Version
    description: str
    content_hash: str
    expires_at: int
    topics: tuple[str, ...]
    """Without that of the form."""
    previous: tuple[str, ...]
    """Ids of the version before this one."""
    pinned: bool
    """Published under `name@version`."""

    @property
    def author(self) -> str:
        return self.event.author

    @property
    def text(self) -> str:
        return self.event.content

    @property
    def address(self) -> str:
        """That which follows updates."""
        return address_of(self.event.kind, self.event.author, self.name)

    @property
    def pinned_address(self) -> str:
        return address_of(self.event.kind, self.event.author, pinned(self.name, self.version))


@dataclass(frozen=True, slots=True)
class Release:
    """One version as its author gives it out."""

    name: str
    version: Version
    description: str
    text: str
    """Normal: see `normal`."""
    expires_at: int
    created_at: int
    topics: tuple[str, ...] = ()


def normal(text: str) -> str:
    """The canonical bytes are these in UTF-8: no byte order mark, LF ends every line."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def hash_of(text: str) -> str:
    """Raises UnicodeEncodeError for half a character."""
    return hashlib.sha256(text.encode()).hexdigest()


def address_of(kind: int, author: str, d: str) -> str:
    return f"{kind}:{author}:{d}"


def pinned(name: str, version: Version) -> str:
    return f"{name}@{version}"


def drafts(
    release: Release,
    author: str,
    form: Form = SKILL,
    before: Manifest | None = None,
    pinned_before: Manifest | None = None,
) -> tuple[Draft, Draft]:
    """That of the version, whose id people share, and that of the name. `before`: the versions they follow."""
    of_name = (before.event.id,) if before else ()
    of_version = (pinned_before.event.id,) if pinned_before else ()
    d = pinned(release.name, release.version)
    # The first `v` leads along the same kind of address; what followed a name's old id is found by the second.
    return (
        _draft(release, author, form, d, (*of_version, *of_name)),
        _draft(release, author, form, release.name, of_name),
    )


def _draft(release: Release, author: str, form: Form, d: str, previous: Iterable[str]) -> Draft:
    tags: list[Tag] = [
        ("d", d),
        ("name", release.name),
        ("version", str(release.version)),
        ("description", release.description),
        ("manifest_hash", hash_of(release.text)),
        ("capability", NO_RIGHTS),
        ("expiry", str(release.expires_at)),
        ("t", form.topic),
        ("skill_scope_id", f"{address_of(form.kind, author, d)}:{release.version}"),
        *(("v", event_id) for event_id in previous),
        *(("t", topic) for topic in release.topics),
    ]
    return Draft(form.kind, release.text, tuple(tags), release.created_at)


def read_manifest(event: Event, form: Form = SKILL) -> Manifest:
    """Raises BadManifest, and NotText for one that asks for rights. Looks at the tags alone, not at the kind."""
    if len(event.tags) > _MOST_TAGS:
        raise BadManifest(f"it has {len(event.tags)} tags; at most {_MOST_TAGS} are read")
    once = {name: _once(event, name) for name in _ONCE}
    version = read_version(once["version"])
    if version is None:
        raise BadManifest(f"`version` must be a version such as 1.0.0, not {shown(once['version'])}")
    name, _, of_version = once["d"].partition("@")
    if not is_name(name) or once["d"] not in (name, pinned(name, version)):
        told = f"`d` must be a name, or name@{version}; it is {shown(once['d'])}"
        raise BadManifest(told)
    if not is_id(once["manifest_hash"]):
        raise BadManifest("`manifest_hash` must be 64 lower-case hex characters")
    _check_rights(event)
    _check_scope(event, once["d"], version)
    return Manifest(
        event=event,
        name=name,
        version=version,
        description=once["description"],
        content_hash=once["manifest_hash"],
        expires_at=_time(once["expiry"]),
        topics=_topics(event, form),
        previous=tuple(value for value in event.tag_values("v") if is_id(value)),
        pinned=bool(of_version),
    )


def _once(event: Event, name: str) -> str:
    """Relays look at the first `d` of several, other programs at the last: what is there twice names nothing."""
    values = event.tag_values(name)
    if len(values) != 1 or not values[0].strip():
        told = (
            "is missing" if not values else "is blank" if len(values) == 1 else "stands there more than once"
        )
        raise BadManifest(f"`{name}` {told}")
    return values[0]


def _check_rights(event: Event) -> None:
    rights = event.tag_values("capability")
    if not rights:
        raise BadManifest("`capability` is missing: it must be `none`")
    if set(rights) != {NO_RIGHTS}:
        asked = next(right for right in rights if right != NO_RIGHTS)
        raise NotText(f"it asks for the right {shown(asked)}: only text without any rights is taken")


def _check_scope(event: Event, d: str, version: Version) -> None:
    fits = f"{address_of(event.kind, event.author, d)}:{version}"
    if wrong := next((given for given in event.tag_values("skill_scope_id") if given != fits), None):
        raise BadManifest(f"`skill_scope_id` names something else: {shown(wrong, 100)}")


def _topics(event: Event, form: Form) -> tuple[str, ...]:
    topics = event.tag_values("t")
    if form.topic not in topics:
        raise BadManifest(f"`t` {form.topic} is missing: this is no {form.what}")
    return tuple(dict.fromkeys(topic for topic in topics if topic != form.topic))


def _time(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) <= 16 and 0 < int(text) <= _LATEST):
        raise BadManifest(f"`expiry` must be seconds since 1970, not {shown(text)}")
    return int(text)

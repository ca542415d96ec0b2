"""Give a skill or a template out: the events of its next version, and how they are taken back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from uniun_bots.errors import BadManifest, NotFetched, NotFound, NotText, SharingRefused
from uniun_bots.nostr.event import Draft, Event, Tag
from uniun_bots.nostr.filter import Filter
from uniun_bots.nostr.signer import Signer, mine
from uniun_bots.personas.relay_set import RelayAddress
from uniun_bots.relays.door import Door
from uniun_bots.relays.hints import is_near
from uniun_bots.relays.receipt import Receipt
from uniun_bots.sharing.event import (
    SKILL,
    Form,
    Manifest,
    Release,
    address_of,
    drafts,
    normal,
    pinned,
    read_manifest,
)
from uniun_bots.sharing.fetch import Where, newest
from uniun_bots.sharing.verify import check_size
from uniun_bots.sharing.versions import FIRST, LONGEST, Version, read_version
from uniun_bots.skills.skill import Skill


@dataclass(frozen=True, slots=True)
class Before:
    """What is published already."""

    of_name: Manifest | None
    of_version: Manifest | None
    """The same version under its own address, when it can still be had."""

    @property
    def version(self) -> Version | None:
        return self.of_name.version if self.of_name else None


async def published_before(where: Where, author: str, name: str, form: Form = SKILL) -> Before:
    """Raises NotFetched when no relay answers: a version that follows another must name it."""
    head = await _newest_of(where, author, name, form)
    version = await _newest_of(where, author, pinned(name, head.version), form) if head else None
    return Before(head, version)


async def _newest_of(where: Where, author: str, d: str, form: Form) -> Manifest | None:
    answers = await where.ask(Filter(kinds=(form.kind,), authors=(author,), tags=(("d", (d,)),)))
    if not answers:
        raise NotFetched(f"none of the relays answered: {', '.join(where.relays)}")
    return _newest_manifest([event for events in answers.values() for event in events], form)


def _newest_manifest(events: Sequence[Event], form: Form) -> Manifest | None:
    found = newest(events)
    if found is None:
        return None
    try:
        return read_manifest(found, form)
    except (BadManifest, NotText):
        # Another program wrote it in its own way; ours takes its place.
        return None


def release_of(
    name: str,
    description: str,
    text: str,
    before: Before,
    *,
    version: str | None,
    good_for_s: float,
    now: float,
    topics: tuple[str, ...] = (),
) -> Release:
    """Raises SharingRefused for a version that would take the place of one that is out, TooLarge."""
    text = normal(text)
    check_size(text)
    return Release(
        name=name,
        version=next_version(before.version, version),
        description=description,
        text=text,
        expires_at=int(now + good_for_s),
        created_at=_stamp_after(before, now),
        topics=topics,
    )


def _stamp_after(before: Before, now: float) -> int:
    """Relays keep the later of two, so a clock that was set back must not lose an update."""
    return max(int(now), before.of_name.event.created_at + 1 if before.of_name else 0)


def written_version(skill: Skill, before: Before) -> str | None:
    """`metadata: {version: …}` of the file, when it is above what is out."""
    given = read_version(skill.file.metadata.get("version", ""))
    return given.text if given and (before.version is None or before.version < given) else None


def next_version(before: Version | None, given: str | None) -> Version:
    if given is None:
        return before.next() if before else Version(FIRST)
    version = read_version(given)
    if version is None:
        raise SharingRefused(f"a version is such as 1.0.0, of at most {LONGEST} characters, not {given!r}")
    if before is not None and not before < version:
        raise SharingRefused(
            f"{before} is published already: {version} must be above it, such as {before.next()}"
        )
    return version


@dataclass(frozen=True, slots=True)
class Published:
    of_version: Event
    of_name: Event


async def sign_release(
    release: Release, signer: Signer, before: Before, form: Form = SKILL, difficulty: int = 0
) -> Published:
    """`difficulty`: leading zero bits of the ids (NIP-13)."""
    made = drafts(release, signer.public_key, form, before.of_name, before.of_version)
    mined = [await mine(draft, signer.public_key, difficulty) for draft in made]
    return Published(await signer.sign(mined[0]), await signer.sign(mined[1]))


async def difficulty_for(door: Door, relays: Sequence[RelayAddress], own: int) -> int:
    """The most of what the settings and the relays ask for: one event goes to all of them."""
    asked = [own]
    for relay in relays:
        said = relay.pow
        if said is None:
            information = await door.information(relay.url)
            said = information.min_pow_difficulty if information else 0
        asked.append(said)
    return max(asked)


async def send(door: Door, events: Sequence[Event], relays: Sequence[str]) -> list[list[Receipt]]:
    """For each event what each relay said, one event after the other: what a name leads to is there before it."""
    return [await door.send(event.raw, relays, event.author) for event in events]


async def revocation(
    where: Where,
    signer: Signer,
    name: str,
    reason: str,
    now: float,
    form: Form = SKILL,
    difficulty: int = 0,
) -> Event:
    """A deletion (NIP-09) of every version of the name that a relay has, and of their addresses. Raises NotFound."""
    events = await versions_out(where, signer.public_key, name, form)
    if not events:
        asked = ", ".join(where.relays)
        raise NotFound(f"no {form.what} {name} by this key is on {asked}: `--to SET` asks others")
    draft = revocation_draft(events, name, reason, now, form)
    return await signer.sign(await mine(draft, signer.public_key, difficulty))


async def versions_out(where: Where, author: str, name: str, form: Form = SKILL) -> list[Event]:
    """Every event of this author under the name, or under the name and a version."""
    answers = await where.ask(Filter(kinds=(form.kind,), authors=(author,)))
    if not answers:
        raise NotFetched(f"none of the relays answered: {', '.join(where.relays)}")
    found = {event.id: event for events in answers.values() for event in events}
    return [event for event in found.values() if _d(event).partition("@")[0] == name]


def revocation_draft(
    events: Sequence[Event], name: str, reason: str, now: float, form: Form = SKILL
) -> Draft:
    addresses = dict.fromkeys(address_of(form.kind, event.author, _d(event)) for event in events)
    addresses.setdefault(address_of(form.kind, events[0].author, name))
    tags: list[Tag] = [("e", event.id) for event in events]
    tags += [("a", address) for address in addresses]
    # By address only what is not later than the deletion goes.
    stamp = max(int(now), *(event.created_at for event in events))
    return Draft(5, reason, (*tags, ("k", str(form.kind))), stamp)


def _d(event: Event) -> str:
    return next(iter(event.tag_values("d")), "")


def strangers_among(relays: Sequence[str]) -> list[str]:
    """Those that are not on this machine or in its own network: what goes there is out for good."""
    return [url for url in relays if not is_near(urlsplit(url).hostname or "")]

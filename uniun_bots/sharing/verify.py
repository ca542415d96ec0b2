"""Whether what was fetched is what it says: one step after the other, each with its own error.

Only what `verified` returns may be shown as verified, and only that is ever offered for a yes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from uniun_bots.errors import (
    BadContent,
    BadManifest,
    Deleted,
    Expired,
    NotText,
    TooLarge,
    WrongHash,
    WrongKind,
    WrongSignature,
)
from uniun_bots.nostr.event import Event
from uniun_bots.nostr.read import verify
from uniun_bots.personas.settings import SKILL_KIND, TEMPLATE_KIND
from uniun_bots.personas.shown import shown
from uniun_bots.personas.text_file import read_text
from uniun_bots.sharing.event import LARGEST_BYTES, SKILL, Form, Manifest, hash_of, read_manifest
from uniun_bots.skills.skill import Skill, Source
from uniun_bots.skills.skill_file import read_skill

_LOOKED_AT_BY = {
    SKILL_KIND: ": `uniun-bots skill inspect` looks at skills",
    TEMPLATE_KIND: ": `uniun-bots persona inspect` looks at persona templates",
}


@dataclass(frozen=True, slots=True)
class VerifiedSkill:
    manifest: Manifest
    skill: Skill


def verified(event: Event, now: float, deletions: Iterable[Event] = (), form: Form = SKILL) -> Manifest:
    """The steps that skills and templates share; `deletions` are kind 5 events as relays gave them."""
    check_signature(event)
    if event.kind != form.kind:
        told = f"it is of kind {event.kind}; a {form.what} is of kind {form.kind}"
        raise WrongKind(told + _LOOKED_AT_BY.get(event.kind, ""))
    check_size(event.content)
    manifest = read_manifest(event, form)
    check_hash(event.content, manifest.content_hash)
    if manifest.expires_at <= now:
        raise Expired(
            f"{manifest.name} {manifest.version} expired; its author may have published a newer version"
        )
    check_not_deleted(manifest, deletions)
    return manifest


def verified_skill(
    event: Event, now: float, deletions: Iterable[Event] = (), form: Form = SKILL
) -> VerifiedSkill:
    manifest = verified(event, now, deletions, form)
    found = skill_of(manifest.text, manifest.name)
    if found.name != manifest.name:
        told = (
            f"the manifest is of {shown(manifest.name)}, the text in it says that it is {shown(found.name)}"
        )
        raise BadManifest(told)
    return VerifiedSkill(manifest, found)


def check_signature(event: Event) -> None:
    if not verify(event):
        raise WrongSignature(
            "id and signature do not fit what the event says: it was changed, or never signed"
        )


def check_size(text: str) -> None:
    if (size := len(text.encode(errors="replace"))) > LARGEST_BYTES:
        raise TooLarge(size, LARGEST_BYTES)


def check_hash(text: str, expected: str) -> None:
    """The hash is over the bytes that will be read, so a text that has to be made normal first is refused."""
    if text.startswith("\ufeff") or "\r" in text:
        raise WrongHash(
            "the text has a byte order mark or CR line ends: a hash over it names no one spelling"
        )
    if hash_of(text) != expected:
        raise WrongHash(f"the manifest names the hash {expected[:12]}…, the text has {hash_of(text)[:12]}…")


def check_not_deleted(manifest: Manifest, deletions: Iterable[Event]) -> None:
    if found := next((one for one in deletions if takes_back(one, manifest)), None):
        raise Deleted(f"its author took {manifest.name} {manifest.version} back", reason_of(found))


def takes_back(deletion: Event, manifest: Manifest) -> bool:
    """NIP-09: by the same author; by id, or by address for what is not newer."""
    if deletion.kind != 5 or deletion.author != manifest.author:
        return False
    by_address = {manifest.address, manifest.pinned_address} & set(deletion.tag_values("a"))
    return manifest.event.id in deletion.tag_values("e") or (
        bool(by_address) and manifest.event.created_at <= deletion.created_at
    )


def reason_of(deletion: Event) -> str:
    return shown(" ".join(deletion.content.split()), 200) if deletion.content.strip() else ""


def skill_of(text: str, name: str, file: str | None = None) -> Skill:
    """Text and nothing but text, or NotText or BadContent."""
    told_as = file or str(Path(f"{name}.md"))
    found = read_text(told_as, text.encode(errors="replace"))
    if found.text is None:
        raise BadContent(found.faults)
    read = read_skill(found.text, told_as, Source.INSTALLED, found.faults)
    if read.refused:
        raise NotText("\n".join(str(fault) for fault in read.refused))
    if read.skill is None:
        raise BadContent(read.faults)
    return read.skill

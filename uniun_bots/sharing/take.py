"""Take what somebody said yes to into the store. It is verified once more, so nothing else ever gets there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from uniun_bots import failpoints
from uniun_bots.database.store import Store
from uniun_bots.errors import NotAccepted
from uniun_bots.nostr.read import read_event
from uniun_bots.sharing.candidate import Candidate
from uniun_bots.sharing.event import SKILL, Form, Manifest, hash_of, normal
from uniun_bots.sharing.verify import check_size, skill_of, verified_skill
from uniun_bots.skills.installed import install
from uniun_bots.skills.provenance import Installed, Origin


@dataclass(frozen=True, slots=True)
class Parcel:
    """What goes from the command in which a person said yes to whoever writes the store."""

    content: str
    agreed_hash: str
    """Of the bytes that the yes was about."""
    source: str
    approved_by: str
    raw: str | None = None
    """The signed event; None for a local file."""
    relays: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    """Ids of the labels that were shown before the yes."""


def parcel_of(
    candidate: Candidate, agreed_hash: str, approved_by: str, labels: tuple[str, ...] = ()
) -> Parcel:
    raw = candidate.event.raw.decode() if candidate.event else None
    return Parcel(candidate.text, agreed_hash, candidate.source, approved_by, raw, candidate.relays, labels)


def read_parcel(given: dict[str, Any]) -> Parcel:
    """As it came over the control socket. Raises KeyError and TypeError for what is no parcel."""
    return Parcel(**{**given, "relays": tuple(given["relays"]), "labels": tuple(given["labels"])})


async def take(store: Store, parcel: Parcel, now: float, form: Form = SKILL) -> Installed:
    """Raises SharingRefused, and then nothing is written."""
    new = _installed(parcel, now, form)
    await store.write(lambda tx: install(tx, new))
    failpoints.hit("installed")
    return new


def _installed(parcel: Parcel, now: float, form: Form) -> Installed:
    if hash_of(parcel.content) != parcel.agreed_hash:
        raise NotAccepted("the yes was about other bytes than these: nothing is written")
    origin = _origin(parcel, now, form) if parcel.raw is not None else None
    return Installed(
        name=_name(parcel),
        content=parcel.content,
        content_hash=parcel.agreed_hash,
        source=parcel.source,
        approved_by=parcel.approved_by,
        approved_at=now,
        origin=origin,
    )


def _name(parcel: Parcel) -> str:
    check_size(parcel.content)
    if parcel.content != normal(parcel.content):
        raise NotAccepted("the text is not in its canonical form: nothing is written")
    return skill_of(parcel.content, "skill").name


def _origin(parcel: Parcel, now: float, form: Form) -> Origin:
    manifest: Manifest = verified_skill(read_event(parcel.raw or ""), now, (), form).manifest
    if manifest.text != parcel.content:
        raise NotAccepted("the event carries another text: nothing is written")
    return Origin(
        event_id=manifest.event.id,
        author=manifest.author,
        address=manifest.address,
        version=str(manifest.version),
        expires_at=manifest.expires_at,
        relays=parcel.relays,
        labels=parcel.labels,
        received_at=now,
        raw=manifest.event.raw,
    )

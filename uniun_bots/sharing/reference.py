"""What a reference to something shared names: one event for ever, or an address whose newest event counts."""

from __future__ import annotations

from dataclasses import dataclass

from uniun_bots.errors import BadBech32, BadReference, Unresolved
from uniun_bots.nostr.bech32 import encode
from uniun_bots.nostr.event_id import is_id
from uniun_bots.nostr.reference import read_reference, spell_npub
from uniun_bots.nostr.references import parse_reference
from uniun_bots.personas.names import is_name
from uniun_bots.personas.shown import shown
from uniun_bots.sharing.event import SKILL, Form, address_of
from uniun_bots.sharing.versions import read_version

_FORMS = "note1…, nevent1…, naddr1…, npub1…/name or the 64 hex characters of an id"


@dataclass(frozen=True, slots=True)
class Wanted:
    """Either by id, or by author and `d`."""

    event_id: str | None = None
    author: str | None = None
    d: str = ""
    hints: tuple[str, ...] = ()
    """Relays that the reference names: strangers wrote them."""

    def address(self, form: Form) -> str:
        return address_of(form.kind, self.author or "", self.d)


def read_wanted(written: str, form: Form = SKILL) -> Wanted:
    """Raises Unresolved with what to write instead."""
    given = written.strip().removeprefix("nostr:")
    if is_id(given.lower()):
        return Wanted(event_id=given.lower())
    person, slash, d = given.partition("/")
    if slash:
        return _by_name(person, d, form)
    try:
        found = read_reference(given)
    except BadBech32 as error:
        raise Unresolved(
            f"{shown(given)} is no reference to a {form.what} ({error}): write {_FORMS}"
        ) from None
    if found.form in ("note", "nevent"):
        return Wanted(found.target, found.author, hints=found.relays)
    if found.form == "naddr":
        return _by_address(found.target, found.relays, form)
    raise Unresolved(f"{shown(given)} names a person: write npub1…/name for a {form.what} of theirs")


def _by_name(person: str, d: str, form: Form) -> Wanted:
    try:
        author = parse_reference(person, "pubkey")
    except BadReference as error:
        raise Unresolved(f"what stands before the `/` names nobody ({error}): write npub1…/name") from None
    return Wanted(author=author, d=_checked(d, form))


def _by_address(address: str, relays: tuple[str, ...], form: Form) -> Wanted:
    kind, author, d = address.split(":", 2)
    if kind != str(form.kind):
        raise Unresolved(f"this naddr is of kind {kind}; a {form.what} is of kind {form.kind}")
    return Wanted(author=author, d=_checked(d, form), hints=relays)


def _checked(d: str, form: Form) -> str:
    name, at, version = d.partition("@")
    if is_name(name) and (not at or read_version(version)):
        return d
    raise Unresolved(f"{shown(d)} is no name of a {form.what}: write the name, or name@1.0.0")


def spell_address(kind: int, author: str, d: str, relays: tuple[str, ...] = ()) -> str:
    """naddr1…, with where it was published."""
    records = [_record(0, d.encode()), *(_record(1, url.encode()) for url in relays)]
    records += [_record(2, bytes.fromhex(author)), _record(3, kind.to_bytes(4, "big"))]
    return encode("naddr", b"".join(records))


def spell_event(event_id: str, author: str, kind: int, relays: tuple[str, ...] = ()) -> str:
    """nevent1…: with the author, so that what replaced a lost event can be found."""
    records = [_record(0, bytes.fromhex(event_id)), *(_record(1, url.encode()) for url in relays)]
    records += [_record(2, bytes.fromhex(author)), _record(3, kind.to_bytes(4, "big"))]
    return encode("nevent", b"".join(records))


def spell_name(author: str, d: str) -> str:
    return f"{spell_npub(author)}/{d}"


def _record(kind: int, value: bytes) -> bytes:
    return bytes((kind, len(value))) + value

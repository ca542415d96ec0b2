"""One NIP-19 reference: what `npub1…`, `nprofile1…`, `note1…`, `nevent1…` or `naddr1…` names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from uniun_bots.errors import BadBech32
from uniun_bots.nostr.bech32 import decode, encode

Form = Literal["npub", "nprofile", "note", "nevent", "naddr"]
FORMS: tuple[Form, ...] = ("npub", "nprofile", "note", "nevent", "naddr")
PEOPLE: tuple[Form, ...] = ("npub", "nprofile")
NOTES: tuple[Form, ...] = ("note", "nevent")

# Types of the TLV records in nprofile, nevent and naddr.
_SUBJECT, _RELAY, _AUTHOR, _KIND = range(4)


@dataclass(frozen=True, slots=True)
class Reference:
    form: Form
    target: str
    """Lower-case hex of the person or note; an naddr's address as `<kind>:<author>:<d>`."""
    relays: tuple[str, ...] = ()
    author: str | None = None
    """Whose note or address it is, when it says so."""


def read_reference(text: str) -> Reference:
    """Decode one bech32 reference, without `nostr:` before it. Raises BadBech32."""
    prefix, payload = decode(text)
    if prefix not in FORMS:
        raise BadBech32("unknown prefix")
    form: Form = prefix
    if form in ("npub", "note"):
        return Reference(form, _key(payload))
    records = list(_records(payload))
    subject = next((value for kind, value in records if kind == _SUBJECT), None)
    if subject is None:
        raise BadBech32(f"the {form} does not say what it names")
    relays = tuple(value.decode(errors="replace") for kind, value in records if kind == _RELAY)
    author = next((_key(value) for kind, value in records if kind == _AUTHOR), None)
    if form != "naddr":
        return Reference(form, _key(subject), relays, author)
    kind = next((int.from_bytes(value) for kind, value in records if kind == _KIND), None)
    if author is None or kind is None:
        raise BadBech32("the naddr lacks its author or kind")
    # The first record is the `d` tag whatever its length: 32 bytes of it are not an id.
    return Reference(form, f"{kind}:{author}:{subject.decode(errors='replace')}", relays, author)


def spell_npub(public_key: str) -> str:
    return encode("npub", bytes.fromhex(public_key))


def spell_note(note_id: str) -> str:
    return encode("note", bytes.fromhex(note_id))


def _key(payload: bytes) -> str:
    if len(payload) != 32:
        raise BadBech32(f"it holds {len(payload)} bytes, 32 are wanted")
    return payload.hex()


def _records(payload: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at < len(payload):
        value = payload[at + 2 : at + 2 + payload[at + 1]] if at + 1 < len(payload) else b""
        if at + 1 >= len(payload) or len(value) != payload[at + 1]:
            raise BadBech32("its last part is cut off")
        yield payload[at], value
        at += 2 + len(value)

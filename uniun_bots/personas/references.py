"""People and events as they are written (hex or NIP-19, with or without `nostr:`), read to lower-case hex."""

from __future__ import annotations

import re

from nostr_sdk import Nip19, Nip19Enum, NostrSdkError

from uniun_bots.personas.shown import shown

_HEX64 = re.compile(r"[0-9a-fA-F]{64}")


def public_key_hex(written: str) -> str:
    if _HEX64.fullmatch(written):
        return written.lower()
    match _decoded(written):
        case Nip19Enum.PUBKEY() as found:
            return str(found.npub.to_hex())
        case Nip19Enum.PROFILE() as found:
            return str(found.nprofile.public_key().to_hex())
    raise ValueError(f"must be a public key (npub1…, nprofile1… or 64 hex characters), not {shown(written)}")


def event_id_hex(written: str) -> str:
    if _HEX64.fullmatch(written):
        return written.lower()
    match _decoded(written):
        case Nip19Enum.NOTE() as found:
            return str(found.event_id.to_hex())
        case Nip19Enum.EVENT() as found:
            return str(found.event.event_id().to_hex())
    raise ValueError(f"must be an event id (nevent1…, note1… or 64 hex characters), not {shown(written)}")


def _decoded(written: str) -> Nip19Enum | None:
    text = written.removeprefix("nostr:")
    if len(text) > 2000:
        return None
    try:
        return Nip19.from_bech32(text).as_enum()
    except NostrSdkError:
        return None

"""People and events as settings name them (hex or NIP-19), read to lower-case hex."""

from __future__ import annotations

from typing import Literal

from uniun_bots.errors import BadReference
from uniun_bots.nostr.references import parse_reference


def public_key_hex(written: str) -> str:
    return _read(written, "pubkey")


def event_id_hex(written: str) -> str:
    return _read(written, "note")


def _read(written: str, want: Literal["note", "pubkey"]) -> str:
    try:
        return parse_reference(written, want)
    except BadReference as error:
        raise ValueError(f"is not usable: {error}") from None

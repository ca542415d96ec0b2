"""A private letter (NIP-17): a kind-14 rumor, sealed by its author and wrapped for one receiver."""

from __future__ import annotations

from nostr_sdk import EventBuilder, Kind, NostrSdkError, PublicKey, Tag, Timestamp, nip59_make_gift_wrap

from uniun_bots.errors import BadEvent
from uniun_bots.nostr.event import Event
from uniun_bots.nostr.event_id import as_utf8
from uniun_bots.nostr.read import read_event
from uniun_bots.nostr.signer import LocalSigner


def letter(signer: LocalSigner, receiver: str, text: str, now: float) -> Event:
    """The gift wrap, signed by a key that is used once; only the receiver learns who wrote it. Raises BadEvent."""
    try:
        rumor = EventBuilder(Kind(14), text).tags([Tag.parse(["p", receiver])])
        unsigned = rumor.custom_created_at(Timestamp.from_secs(int(now))).finalize_unsigned(
            PublicKey.parse(signer.public_key)
        )
        wrapped = nip59_make_gift_wrap(signer.keys, PublicKey.parse(receiver), unsigned)
    except NostrSdkError as fault:
        raise BadEvent(f"the letter cannot be written: {fault}") from None
    return read_event(as_utf8(wrapped.as_json()))

"""Who signs: the protocol that every signer keeps, the one that holds its key itself, and proof of work."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import NoReturn, Protocol

from nostr_sdk import Keys, MultiThreadPow, NostrSdkError, UnsignedEvent

from uniun_bots.errors import BadEvent, KeyRefused
from uniun_bots.nostr.event import Draft, Event
from uniun_bots.nostr.event_id import as_utf8, event_id
from uniun_bots.nostr.read import read_event
from uniun_bots.nostr.secret import SecretText, Spellings

HARDEST = 28
"""Zero bits; about 2^28 ids to try, minutes on a small machine. Threads that mine cannot be stopped."""


class Signer(Protocol):
    @property
    def public_key(self) -> str:
        """64 lower-case hex characters."""
        ...

    async def sign(self, draft: Draft) -> Event:
        """The draft as a signed event, nothing in it changed. Raises BadEvent for what breaks NIP-01."""
        ...


class LocalSigner:
    """Holds the key in this process; hidden in repr, never pickled."""

    __slots__ = ("_keys", "_public_key", "spellings")

    def __init__(self, secret: SecretText) -> None:
        if secret.locked:
            raise KeyRefused("the key is locked (ncryptsec): give its passphrase")
        self._keys = Keys.parse(secret.reveal)
        self._public_key: str = self._keys.public_key().to_hex()
        self.spellings = Spellings.of(self._keys.secret_key().to_hex())

    @property
    def public_key(self) -> str:
        return self._public_key

    @property
    def keys(self) -> Keys:
        """For the authenticator of the relays room alone."""
        return self._keys

    async def sign(self, draft: Draft) -> Event:
        found = {
            "id": event_id(self._public_key, draft),
            "pubkey": self._public_key,
            "created_at": draft.created_at,
            "kind": draft.kind,
            "tags": draft.tags,
            "content": draft.content,
        }
        found["sig"] = self._keys.sign_schnorr(bytes.fromhex(str(found["id"])))
        # Read back by the same rules as the events of others: what we would refuse, we do not send.
        return read_event(as_utf8(json.dumps(found, ensure_ascii=False, separators=(",", ":"))))

    def __repr__(self) -> str:
        return f"LocalSigner(public_key={self._public_key!r})"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a signer holds a secret key: it is not pickled or copied")


async def mine(draft: Draft, author: str, difficulty: int) -> Draft:
    """The draft with a `nonce` tag that gives its id, signed by `author`, so many leading zero bits (NIP-13).

    Runs off the event loop. Raises BadEvent for a difficulty that is out of reach.
    """
    if difficulty > HARDEST:
        raise BadEvent(f"proof of work of {difficulty} bits is out of reach: at most {HARDEST}")
    plain = replace(draft, tags=tuple(tag for tag in draft.tags if tag[:1] != ("nonce",)))
    if difficulty <= 0:
        return plain
    mined = await asyncio.to_thread(_mined, plain, author, difficulty)
    if difficulty_of(event_id(author, mined)) < difficulty or mined.tags[:-1] != plain.tags:
        raise BadEvent("the miner changed more than the nonce")
    return mined


def difficulty_of(note_id: str) -> int:
    """Leading zero bits of an id."""
    return 256 - int(note_id, 16).bit_length()


def _mined(draft: Draft, author: str, difficulty: int) -> Draft:
    fields = {
        "pubkey": author,
        "created_at": draft.created_at,
        "kind": draft.kind,
        "tags": draft.tags,
        "content": draft.content,
    }
    text = as_utf8(json.dumps(fields, ensure_ascii=False)).decode()
    try:
        unsigned = UnsignedEvent.from_json(text)
    except NostrSdkError as error:
        raise BadEvent(f"the draft breaks NIP-01: {error}") from None
    found = json.loads(unsigned.mine(MultiThreadPow(), difficulty).as_json())
    # The miner may move the time; everything else is checked by the id.
    return replace(draft, created_at=found["created_at"], tags=tuple(map(tuple, found["tags"])))

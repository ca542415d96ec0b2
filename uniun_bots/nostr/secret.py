"""Secret keys as people paste them. No message here ever carries a part of one."""

from __future__ import annotations

import base64
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, NoReturn

from nostr_sdk import EncryptedSecretKey, Keys, NostrSdkError, SecretKey

from uniun_bots.errors import BadBech32, KeyRefused
from uniun_bots.nostr.bech32 import decode, encode
from uniun_bots.nostr.reference import FORMS

_NSEC_LENGTH = 63
_NCRYPTSEC_LENGTH = 162
_CURVE_ORDER = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141
# NIP-49 leaves the cost open; 2^22 rounds take 4 GiB, more than any key file of today asks for.
_MOST_ROUNDS_LOG2 = 22

_WRITE = "write nsec1…, 64 hex characters or ncryptsec1…"
# Local model servers are given keys such as `EMPTY` or `sk-no-key-required`.
_SHORTEST_TEXT = 16
_MARKS = re.compile(r"[^0-9A-Za-z]+")
_HEX = re.compile(r"[0-9a-fA-F]+")
_BECH32 = re.compile(r"[0-9a-z]+", re.IGNORECASE | re.ASCII)
_KEY_LIKE = re.compile(
    r"(?:nsec|ncryptsec|npub|nprofile)1[02-9ac-hj-np-z]{50}|[0-9a-f]{64}", re.IGNORECASE | re.ASCII
)
_SPELLED = re.compile(r"nsec1[02-9ac-hj-np-z]{58}|ncryptsec1[02-9ac-hj-np-z]{152}", re.IGNORECASE | re.ASCII)


@dataclass(frozen=True, slots=True)
class SecretText:
    """A well-formed secret key, hidden in repr and never pickled."""

    form: Literal["hex", "nsec", "ncryptsec"]
    """How it was written."""
    reveal: str = field(repr=False)
    """64 lower-case hex characters; the ncryptsec itself while it is locked."""

    @property
    def locked(self) -> bool:
        return self.form == "ncryptsec"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a secret key is not pickled or copied")


def read_secret(text: str) -> SecretText:
    """Tell nsec, hex and ncryptsec apart; outer white space does not matter. Raises KeyRefused."""
    given = text.strip()
    if not given:
        raise KeyRefused(f"no key was given: {_WRITE}")
    if len(_KEY_LIKE.findall(given)) > 1:
        raise KeyRefused(f"two keys in one field: {_WRITE}, one alone")
    if not _BECH32.fullmatch(given):
        raise KeyRefused(f"a character that no key has (a space, a quotation mark?): {_WRITE}")
    if _HEX.fullmatch(given):
        return SecretText("hex", _hex_scalar(given))
    prefix = given.lower().partition("1")[0]
    if prefix == "nsec":
        return SecretText("nsec", _scalar(_payload(given, prefix, _NSEC_LENGTH)))
    if prefix == "ncryptsec":
        _check_cost(_payload(given, prefix, _NCRYPTSEC_LENGTH))
        return SecretText("ncryptsec", given.lower())
    if prefix in ("npub", "nprofile"):
        raise KeyRefused(f"this is a public key ({prefix}): {_WRITE}")
    if prefix in FORMS:
        raise KeyRefused(f"this names a note ({prefix}): {_WRITE}")
    raise KeyRefused(f"unknown prefix: {_WRITE}")


def new_secret() -> SecretText:
    return SecretText("hex", Keys.generate().secret_key().to_hex())


def lock(secret: SecretText, passphrase: str) -> str:
    """The ncryptsec (NIP-49) of an open secret. Takes about 0.2 s by design."""
    if secret.locked:
        raise KeyRefused("the key is locked already: unlock it first")
    encrypted = SecretKey.parse(secret.reveal).encrypt(passphrase)
    return str(encrypted.to_bech32())


def unlock(secret: SecretText, passphrase: str) -> SecretText:
    """Open an ncryptsec; an open secret comes back as it is. Takes about 0.2 s. Raises KeyRefused."""
    if not secret.locked:
        return secret
    try:
        opened = EncryptedSecretKey.from_bech32(secret.reveal).decrypt(passphrase)
    except NostrSdkError:
        raise KeyRefused("the passphrase does not open this key") from None
    return SecretText("hex", opened.to_hex())


def spells_a_secret(text: str) -> bool:
    """Whether an nsec or ncryptsec stands anywhere in the text, in any case, glued or spread by other marks.

    The checksum is not asked: it is made for repairing wrong characters, so a key with one is out as well.
    """
    return _SPELLED.search(_squeezed(text)) is not None


@dataclass(frozen=True, slots=True)
class Spellings:
    """One secret in every form that it could leak in, made once: each body is held against all of them."""

    plain: tuple[str, ...] = field(repr=False)
    encoded: tuple[str, ...] = field(repr=False)

    @classmethod
    def of(cls, secret_hex: str) -> Spellings:
        raw = bytes.fromhex(secret_hex)
        nsec = encode("nsec", raw)
        forms = (raw, raw.hex().encode(), raw.hex().upper().encode(), nsec.encode(), nsec.upper().encode())
        encoded = (base64.b64encode(form).rstrip(b"=").decode() for form in forms)
        return cls((raw.hex(), nsec), tuple(encoded))

    @classmethod
    def of_text(cls, secret: str) -> Spellings | None:
        """Of a secret that is no key of ours. None when it is so short that ordinary words would spell it."""
        plain = _squeezed(secret).lower()
        if len(plain) < _SHORTEST_TEXT:
            return None
        return cls((plain,), (base64.b64encode(secret.encode()).rstrip(b"=").decode(),))


def spelled_in(text: str, keys: Iterable[Spellings]) -> bool:
    """Whether one of the keys stands in the text: as hex, nsec or base64, in any case, glued or spread."""
    squeezed = _squeezed(text).lower()
    lines_joined = "".join(text.split()).translate(str.maketrans("-_", "+/"))
    return any(
        any(form in squeezed for form in key.plain) or any(form in lines_joined for form in key.encoded)
        for key in keys
    )


def spells(secret_hex: str, text: str) -> bool:
    return spelled_in(text, [Spellings.of(secret_hex)])


def _squeezed(text: str) -> str:
    return _MARKS.sub("", unicodedata.normalize("NFKC", text))


def _hex_scalar(given: str) -> str:
    if len(given) != 64:
        raise KeyRefused(f"a hex key has 64 characters, this one has {len(given)}")
    return _scalar(bytes.fromhex(given))


def _scalar(payload: bytes) -> str:
    if len(payload) != 32 or not 0 < int.from_bytes(payload) < _CURVE_ORDER:
        raise KeyRefused("out of range for secp256k1: this is not a secret key")
    return payload.hex()


def _payload(given: str, prefix: str, length: int) -> bytes:
    if len(given) != length:
        how = "short" if len(given) < length else "long"
        raise KeyRefused(f"too {how}: an {prefix} has {length} characters, this one has {len(given)}")
    try:
        return decode(given)[1]
    except BadBech32 as error:
        raise KeyRefused(f"not a valid {prefix}: {error}") from None


def _check_cost(payload: bytes) -> None:
    if payload[0] != 2:
        raise KeyRefused("an ncryptsec of an unknown version: only version 2 (NIP-49) is read")
    if not 1 <= payload[1] <= _MOST_ROUNDS_LOG2:
        raise KeyRefused(
            f"this ncryptsec asks for 2^{payload[1]} rounds, at most 2^{_MOST_ROUNDS_LOG2} are run"
        )

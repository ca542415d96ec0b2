"""Bech32 (BIP-173, checksum constant 1) without its 90-character limit, as NIP-19 wants it."""

from __future__ import annotations

from collections.abc import Iterable

from uniun_bots.errors import BadBech32

LONGEST = 5000
"""Characters; NIP-19 names this limit."""

_CHARSET = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
_VALUES = {char: value for value, char in enumerate(_CHARSET)}
_GENERATORS = (0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)


def _mix(top: int) -> int:
    mixed = 0
    for bit, generator in enumerate(_GENERATORS):
        if top >> bit & 1:
            mixed ^= generator
    return mixed


_MIXED = tuple(_mix(top) for top in range(32))


def decode(text: str) -> tuple[str, bytes]:
    """Prefix in lower case, and payload. Raises BadBech32, which never repeats the text."""
    if len(text) > LONGEST:
        raise BadBech32(f"too long: {len(text)} characters, at most {LONGEST} are read")
    if text.lower() != text and text.upper() != text:
        raise BadBech32("upper and lower case are mixed: write it in lower case")
    prefix, _, data = text.lower().rpartition("1")
    if not prefix or len(data) < 6:
        raise BadBech32("too short")
    values = [_VALUES.get(char, -1) for char in data]
    if -1 in values:
        raise BadBech32("it has a character that bech32 does not use")
    if _polymod([*_spread(prefix), *values]) != 1:
        raise BadBech32("wrong checksum: a character is mistyped, missing or too many")
    return prefix, _to_bytes(values[:-6])


def encode(prefix: str, payload: bytes) -> str:
    bits = "".join(f"{byte:08b}" for byte in payload)
    bits += "0" * (-len(bits) % 5)
    values = [int(bits[at : at + 5], 2) for at in range(0, len(bits), 5)]
    remainder = _polymod([*_spread(prefix), *values, 0, 0, 0, 0, 0, 0]) ^ 1
    values += [remainder >> shift & 31 for shift in (25, 20, 15, 10, 5, 0)]
    return f"{prefix}1{''.join(_CHARSET[value] for value in values)}"


def _polymod(values: Iterable[int]) -> int:
    checksum = 1
    for value in values:
        checksum = (checksum & 0x1FFFFFF) << 5 ^ value ^ _MIXED[checksum >> 25]
    return checksum


def _spread(prefix: str) -> list[int]:
    return [ord(char) >> 5 for char in prefix] + [0] + [ord(char) & 31 for char in prefix]


def _to_bytes(values: list[int]) -> bytes:
    found = bytearray()
    bits = held = 0
    for value in values:
        held = (held << 5 | value) & 0xFFF
        bits += 5
        if bits >= 8:
            bits -= 8
            found.append(held >> bits & 0xFF)
    if bits >= 5 or held & ((1 << bits) - 1):
        raise BadBech32("the bits after the last byte are not zero")
    return bytes(found)

"""A file that somebody wrote, as text: UTF-8, bounded, line ends made `\\n`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from uniun_bots.errors import Fault

LARGEST_BYTES = 262_144
_SECRET = re.compile(r"n(?:sec1[0-9a-z]{20,}|cryptsec1[0-9a-z]{40,})", re.IGNORECASE)
_UTF16 = (b"\xff\xfe", b"\xfe\xff")


@dataclass(frozen=True, slots=True)
class TextFile:
    text: str | None
    """None when it cannot be read at all."""
    faults: tuple[Fault, ...]


def read_text_file(path: Path) -> TextFile:
    file = str(path)
    try:
        if not path.is_file():
            return _refused(file, "is not a file")
        with path.open("rb") as opened:
            raw = opened.read(LARGEST_BYTES + 1)
    except OSError as error:
        return _refused(file, f"cannot be read: {error.strerror or 'unknown reason'}")
    return read_text(file, raw)


def read_text(file: str, raw: bytes) -> TextFile:
    """What stands, or would stand, in a file."""
    if len(raw) > LARGEST_BYTES:
        return _refused(file, f"too large: at most {LARGEST_BYTES} bytes are read")
    if raw.startswith(_UTF16):
        return _refused(file, "is UTF-16: save it as UTF-8")
    try:
        text = raw.removeprefix(b"\xef\xbb\xbf").decode("utf-8")
    except UnicodeDecodeError as error:
        before = raw[: error.start].decode("utf-8", errors="replace")
        return TextFile(None, (fault_at(file, before, len(before), "is not UTF-8 here: save it as UTF-8"),))
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if (index := text.find("\0")) >= 0:
        return TextFile(None, (fault_at(file, text, index, "a NUL character is not allowed"),))
    return TextFile(text, tuple(_secrets(file, text)))


def fault_at(file: str, text: str, index: int, message: str) -> Fault:
    before = text[:index]
    return Fault(file, before.count("\n") + 1, index - (before.rfind("\n") + 1) + 1, message)


def _secrets(file: str, text: str) -> list[Fault]:
    told = (
        "a secret key stands here: take it out, keep it with `uniun-bots keys import NAME` or in a variable,"
        " and name it as key:NAME or env:NAME; make a new key if others saw this file"
    )
    return [fault_at(file, text, match.start(), told) for match in _SECRET.finditer(text)]


def _refused(file: str, message: str) -> TextFile:
    return TextFile(None, (Fault(file, 1, 1, message),))

"""Letters in a name that pass for others: `pаypal` with a Cyrillic а."""

from __future__ import annotations

import re
import unicodedata
from functools import cache

from uniun_bots.sharing.visible import CLOSE, OPEN, Mark, visible_line

_WORD = re.compile(r"[^\W_]+")
_SHORTEST = 2
_LAST_OF_EUROPE = "\u024f"
"""Up to here letters belong to Latin alphabets of today: the ı of Turkish is at home."""


def marked_name(name: str) -> str:
    """On one line, each letter that passes for a plain one with its own name behind it."""
    told = [
        Mark(at + 1, at + 1, f"{OPEN}{unicodedata.name(name[at], 'no name')}{CLOSE}", "")
        for at in look_alikes(name)
    ]
    return visible_line(name, told)


def look_alikes(name: str) -> dict[int, str]:
    """Index of each, with the plain letter that it looks like.

    A word mixes them with plain letters, or is made of them alone while nothing else in the name is of their script.
    Arabic and Hebrew letters pass for none in a word that is written the other way.
    """
    if name.isascii():
        return {}
    words = [(match.start(), match[0]) for match in _WORD.finditer(name)]
    at_home = {
        _script(char) for _, word in words for char in word if char.isalpha() and not plain_letter(char)
    }
    found: dict[int, str] = {}
    for start, word in words:
        plain = {at: plain_letter(char) for at, char in enumerate(word)}
        letters = [at for at, char in enumerate(word) if char.isalpha()]
        mixed = any(char.isascii() and char.isalpha() for char in word)
        alone = len(letters) >= _SHORTEST and all(
            plain[at] and _script(word[at]) not in at_home for at in letters
        )
        if mixed or alone:
            found |= {start + at: letter for at, letter in plain.items() if letter}
    return found


def plain_letter(char: str) -> str:
    """The ASCII letter or digit that it looks like; empty for what is one, or looks like none."""
    if char <= _LAST_OF_EUROPE or unicodedata.bidirectional(char) in ("R", "AL"):
        return ""
    folded = unicodedata.normalize("NFKC", char)
    if folded.isascii():
        return folded if folded.isalnum() else ""
    seen = (one["c"] for one in _confusables().get(char, ()))
    return next((one for one in seen if one.isascii() and one.isalnum()), "")


def _script(char: str) -> str:
    return unicodedata.name(char, "").partition(" ")[0]


@cache
def _confusables() -> dict[str, list[dict[str, str]]]:
    """The table of Unicode TR39; a megabyte, which names in plain letters never need."""
    from confusable_homoglyphs.confusables import confusables_data

    table: dict[str, list[dict[str, str]]] = confusables_data
    return table

"""A text as patterns read it: what was done to hide a word from them is undone, and lines are still known."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from uniun_bots.sharing.look_alikes import plain_letter
from uniun_bots.sharing.visible import marks

_EMPHASIS = "*_~`"


@dataclass(frozen=True, slots=True)
class Flat:
    text: str
    """One line: folded letters without accents and hidden characters, single spaces."""
    starts: tuple[int, ...]
    """Where each character came from."""

    def find(self, pattern: re.Pattern[str]) -> Iterator[tuple[int, int]]:
        """Where each match begins and ends in the text that this was made of."""
        for match in pattern.finditer(self.text):
            yield self.span(match.start(), match.end())

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Of the original; `end` is beyond `start`."""
        return self.starts[start], self.starts[end - 1] + 1


@lru_cache(maxsize=8)  # one text is looked at in several ways
def flat(text: str, *, to_latin: bool = False, emphasis: bool = False) -> Flat:
    """`to_latin`: letters of other scripts become those they look like; `emphasis`: `*` and the like stay."""
    gone = {index for mark in marks(text) for index in range(mark.start, mark.end)}
    chars: list[str] = []
    starts: list[int] = []
    for index, char in enumerate(text):
        if index in gone or (char in _EMPHASIS and not emphasis):
            continue
        for one in _folded(char, to_latin):
            if one != " " or (chars and chars[-1] != " "):
                chars.append(one)
                starts.append(index)
    return Flat("".join(chars), tuple(starts))


def folded(words: str) -> str:
    """Words of a pattern, as `flat` spells them."""
    return flat(words).text


def _folded(char: str, to_latin: bool) -> str:
    if char.isascii():
        return " " if char.isspace() else char.lower()
    if char.isspace():
        return " "
    plain = (plain_letter(char) if to_latin else "") or char
    apart = unicodedata.normalize("NFKD", plain).casefold()
    return "".join(one for one in apart if unicodedata.category(one) not in ("Mn", "Cf"))

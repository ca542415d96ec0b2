"""Versions of what is shared: semver.org 2.0.0, as NIP-SKL asks."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import total_ordering

_NUMBER = r"(?:0|[1-9]\d{0,8})"
_WORD = rf"(?:{_NUMBER}|\d*[A-Za-z-][0-9A-Za-z-]*)"
_VERSION = re.compile(
    rf"({_NUMBER})\.({_NUMBER})\.({_NUMBER})(?:-({_WORD}(?:\.{_WORD})*))?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?",
    re.ASCII,
)
LONGEST = 64
FIRST = "1.0.0"


@total_ordering
@dataclass(frozen=True, slots=True)
class Version:
    """Equal by its text, ordered by precedence; what stands after `+` decides nothing."""

    text: str

    @property
    def _order(self) -> tuple[object, ...]:
        found = _VERSION.fullmatch(self.text)
        if found is None:
            return ()
        words = found[4].split(".") if found[4] else []
        # A number is below a word, and fewer words are below more; none at all is the version itself, above them.
        ranks = tuple((0, int(word), "") if word.isdecimal() else (1, 0, word) for word in words)
        return (*map(int, found.group(1, 2, 3)), not words, ranks)

    def __lt__(self, other: Version) -> bool:
        return self._order < other._order

    def __str__(self) -> str:
        return self.text

    def next(self) -> Version:
        """The patch after this one; of a pre-release, what it precedes."""
        found = _VERSION.fullmatch(self.text)
        major, minor, patch = map(int, found.group(1, 2, 3)) if found else (0, 0, 0)
        return Version(f"{major}.{minor}.{patch if found and found[4] else patch + 1}")


def read_version(text: str) -> Version | None:
    """None for what is no version."""
    return Version(text) if len(text) <= LONGEST and _VERSION.fullmatch(text) else None

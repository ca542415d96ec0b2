"""Find phrases of the phrase book: each part of one near its first, in any order, since languages differ in theirs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from uniun_bots.sharing.flat import Flat, folded
from uniun_bots.sharing.phrase_book import Phrase

NEAR = 70
"""Characters."""

_SENTENCE_END = re.compile(r"[.!?] |[。！？]|---")
# Scripts that set no space between words, and those that set prefixes before them.
_BEGINS_ANYWHERE = ("Chinese", "Japanese", "Korean", "Arabic", "Persian", "Hebrew", "Vietnamese", "Hindi")


def phrases_in(read: Flat, known: tuple[Phrase, ...]) -> Iterator[tuple[int, int]]:
    """Where each begins and ends in the text that was read."""
    for phrase in known:
        first, *others = (_pattern(part, phrase.language) for part in phrase.parts)
        if not all(part.search(read.text) for part in others):
            continue
        for match in first.finditer(read.text):
            start, end = _sentence(read.text, match)
            near = [part.search(read.text, start, end) for part in others]
            found = [match, *(one for one in near if one)]
            if len(found) == len(phrase.parts):
                yield read.span(min(one.start() for one in found), max(one.end() for one in found))


def _sentence(text: str, match: re.Match[str]) -> tuple[int, int]:
    """What stands near and in the same sentence."""
    start, end = max(0, match.start() - NEAR), match.end() + NEAR
    before = [one.end() for one in _SENTENCE_END.finditer(text, start, match.start())]
    after = _SENTENCE_END.search(text, match.end(), end)
    return before[-1] if before else start, after.start() if after else min(end, len(text))


@cache
def _pattern(part: str, language: str) -> re.Pattern[str]:
    words = "|".join(re.escape(folded(word)) for word in part.split("|"))
    return re.compile(f"(?:{words})" if language in _BEGINS_ANYWHERE else rf"\b(?:{words})\w*")

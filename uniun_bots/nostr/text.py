"""Text of notes, made safe for the database, the prompt and a terminal."""

from __future__ import annotations

import re
import unicodedata

CUT_MARK = " […]"

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_DIRECTION = re.compile("[\u202a-\u202e\u2066-\u2069\u2028\u2029]")
_JOINERS = "\u200d\ufe0e\ufe0f"


def clean(text: str) -> str:
    """Drop control characters but newline and tab; half surrogate pairs become U+FFFD; nothing else."""
    return _SURROGATE.sub("\ufffd", _CONTROL.sub("", text))


def inert(text: str) -> str:
    """For a terminal, also what no note has passed `clean` with: a model's words, a name, a file of somebody's.

    Without escape sequences, and without marks that turn the writing around, which hide what is there.
    """
    return _DIRECTION.sub("\ufffd", clean(text))


def cut(text: str, max_chars: int) -> str:
    """At most `max_chars` characters; what is cut ends in a mark and not inside of a composed character."""
    if len(text) <= max_chars:
        return text
    end = max(0, max_chars - len(CUT_MARK))
    while end and (_continues(text[end]) or text[end - 1] == "\u200d"):
        end -= 1
    return (text[:end].rstrip() + CUT_MARK)[:max_chars]


def _continues(char: str) -> bool:
    return char in _JOINERS or unicodedata.combining(char) != 0 or "\U0001f3fb" <= char <= "\U0001f3ff"

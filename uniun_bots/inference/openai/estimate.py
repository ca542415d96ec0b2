"""How many tokens a text becomes, when nobody can be asked: more rather than fewer."""

from __future__ import annotations

import re
from collections.abc import Sequence

from uniun_bots.inference.request import Message

TOKENS_PER_MESSAGE = 8
"""Role, marks and line breaks of a chat template."""
TOKENS_PER_PROMPT = 8
_PARTS = re.compile(r"[A-Za-z0-9]+|[^\sA-Za-z0-9]|\n+|[^\S\n]+", re.ASCII)


def estimate(messages: Sequence[Message]) -> int:
    """Five letters of a word two tokens; a token for each character of numbers, ids, signs and breaks.

    Other scripts two for three bytes, emoji one for each byte.
    """
    return TOKENS_PER_PROMPT + sum(
        TOKENS_PER_MESSAGE + estimate_text(message.content) for message in messages
    )


def estimate_text(text: str) -> int:
    return sum(_tokens(part) for part in _PARTS.findall(text))


def _tokens(part: str) -> int:
    if part.isascii():
        # A single space goes into the token behind it.
        return -(-2 * len(part) // 5) if part.isalpha() else len(part) - (part == " ")
    size = len(part.encode("utf-8", "replace"))
    return size if size > 3 else -(-2 * size // 3)

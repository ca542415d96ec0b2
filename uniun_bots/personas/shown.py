"""How a value that somebody wrote is repeated in a message: short, on one line, and never a secret."""

from __future__ import annotations

import re

SECRET_LIKE = re.compile(r"n(crypt)?sec1[0-9a-z]*|[0-9a-f]{64,}", re.IGNORECASE)


def shown(value: object, longest: int = 40) -> str:
    """The value in backticks, or what kind of thing it is where it cannot be repeated."""
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list | tuple):
        return "a list"
    text = str(value)[:2000]
    if SECRET_LIKE.search(text):
        return "that text"
    if not text.isprintable():
        text = "".join(c if c.isprintable() else " " for c in text)
    return f"`{text}`" if len(text) <= longest else f"`{text[:longest]}…`"

"""Cutting a text where a sentence ends."""

from __future__ import annotations

import re

# Latin and Arabic ends need a space (or the end) behind them, CJK and Devanagari ones do not.
_SENTENCE_END = re.compile(r"""(?:[.!?…؟]+["'”’»)\]*_]*(?=\s|\Z)|[。！？।]+["'”’」』）)]*)""")


def shorten(text: str, max_chars: int) -> str | None:
    """The longest beginning of whole sentences within the limit; None when not even one fits."""
    ends = [found.end() for found in _SENTENCE_END.finditer(text) if found.end() <= max_chars]
    return text[: ends[-1]] if ends else None

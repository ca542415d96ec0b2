"""Text as full-text search stores it: scripts without spaces cut into overlapping pairs.

SQLite's tokenizer takes a run of Han, kana, Hangul, Thai, Lao, Khmer or Myanmar letters as one word, so nothing
inside it would ever be found. The same cut is made of a query. The last letter of a run stands once more by itself:
so every letter begins a word, and one letter alone is found by what begins with it.
"""

from __future__ import annotations

import re

_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
    "\uf900-\ufaff\U00020000-\U0003134f]+"
)


def words(text: str) -> str:
    """For the index."""
    return (
        text if text.isascii() else _UNSPACED.sub(lambda found: f"{_pairs(found)}{found.group()[-1]} ", text)
    )


def asked_words(text: str) -> str:
    """For a query: pairs only, which hold each letter of a run already."""
    return text if text.isascii() else _UNSPACED.sub(_pairs, text)


def _pairs(found: re.Match[str]) -> str:
    run = found.group()
    if len(run) == 1:
        return f" {run} "
    return " " + " ".join(run[i : i + 2] for i in range(len(run) - 1)) + " "

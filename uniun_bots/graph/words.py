"""Text as full-text search stores it; the same is made of a query.

One spelling for what reads the same: full and half width, composed and decomposed letters, case, accents, and the
vowel points of Hebrew and Arabic. SQLite's tokenizer folds Latin only, and takes points for ends of words.

Scripts without spaces are cut into overlapping pairs: SQLite would take a run of Han, kana, Hangul, Thai, Khmer and
others as one word, so nothing inside it would ever be found. The last letter of a run stands once more by itself: so
every letter begins a word, and one letter alone is found by what begins with it.
"""

from __future__ import annotations

import re
import unicodedata

_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u1950-\u19df\u1a20-\u1aaf\u1b00-\u1b7f\u3005-\u3007\u3040-\u312f"
    "\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\ua980-\ua9ff\uaa60-\uaadf\uac00-\ud7af"
    "\uf900-\ufaff\U0001b000-\U0001b16f\U00020000-\U0003134f]+"
)
_PASSED_OVER = re.compile(
    "[\u00ad\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670"
    "\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed]"
)
"""Soft hyphens, accents, points, and the stroke that stretches an Arabic word."""


def words(text: str) -> str:
    """For the index."""
    return text if text.isascii() else _UNSPACED.sub(_pairs_and_last, _one_spelling(text))


def asked_words(text: str) -> str:
    """For a query: pairs only, which hold each letter of a run already."""
    return text if text.isascii() else _UNSPACED.sub(_pairs, _one_spelling(text))


def _one_spelling(text: str) -> str:
    apart = _PASSED_OVER.sub("", unicodedata.normalize("NFKD", text))
    return unicodedata.normalize("NFC", apart.casefold())


def _pairs(found: re.Match[str]) -> str:
    run = found.group()
    if len(run) == 1:
        return f" {run} "
    return " " + " ".join(run[i : i + 2] for i in range(len(run) - 1)) + " "


def _pairs_and_last(found: re.Match[str]) -> str:
    return f"{_pairs(found)}{found.group()[-1]} "

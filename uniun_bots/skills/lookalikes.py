"""Names and words that pass for others."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator

_SAME = str.maketrans({"1": "l", "0": "o", "5": "s"})
_SCRIPTS = ("LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE")
"""Scripts with letters that look like those of another one."""


def similar_names(names: Iterable[str], known: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Names that a reader could take for another one, with that one: `tide-tab1e` and `tide-table`."""
    by_look: dict[str, str] = {}
    for name in known:
        by_look.setdefault(_look(name), name)
    for name in names:
        if (other := by_look.setdefault(_look(name), name)) != name:
            yield name, other


def _look(name: str) -> str:
    return name.translate(_SAME).replace("rn", "m").replace("vv", "w").replace("i", "l").replace("-", "")


def mixed_words(text: str) -> list[str]:
    """Words with letters of several scripts that look alike."""
    return [word for word in re.findall(r"[^\W\d_]+", text) if len(_scripts(word)) > 1]


def _scripts(word: str) -> set[str]:
    return {script for char in word for script in _SCRIPTS if unicodedata.name(char, "").startswith(script)}

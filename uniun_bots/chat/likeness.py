"""Which notes an answer repeats, where its model names none: small ones copy and do not cite."""

from __future__ import annotations

import re
from collections.abc import Mapping

from uniun_bots.graph.words import asked_words

RUN = 6
"""So many words in a row are no coincidence, unless the question has them too."""


def repeated(answer: str, notes: Mapping[str, str], question: str) -> tuple[str, ...]:
    """Handles of those with a run of the answer's words in them. `notes`: handle to text."""
    said = _runs(answer) - _runs(question)
    return tuple(handle for handle, text in notes.items() if said & _runs(text))


def _runs(text: str) -> set[tuple[str, ...]]:
    words = re.findall(r"\w+", asked_words(text.casefold()))
    return {tuple(words[at : at + RUN]) for at in range(len(words) - RUN + 1)}

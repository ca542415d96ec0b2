"""The check of a memory: what a model wrote about a note is kept only if the note bears it out."""

from __future__ import annotations

import re

from uniun_bots.graph.memories import content_words

LEAST_WORDS = 3
MOST_CHARS = 300
LONGEST_PART = 0.6
"""Of the note's length."""
LEAST_VARIETY = 0.6
"""Different words among all of them; a model that turns in a circle has less."""
_NAME = re.compile(r"\d+|(?:https?://|nostr:|npub1|note1|nevent1|naddr1)[^\s\"'<>)\]]+", re.IGNORECASE)


def worthless(summary: str, note_text: str) -> str | None:
    """Why this is no memory of the note; None when it may be kept."""
    said, known = content_words(summary), content_words(note_text)
    if len(said) < LEAST_WORDS:
        return "says next to nothing"
    if len(summary) > min(MOST_CHARS, LONGEST_PART * len(note_text)):
        return "is not short"
    spoken = summary.casefold().split()
    if len(spoken) > 8 and len(set(spoken)) < LEAST_VARIETY * len(spoken):
        return "repeats itself"
    if 2 * len(said & known) < len(said):
        return "shares too few words with its note"
    if strange := _names(summary) - _names(note_text):
        return f"names {min(strange)}, which its note does not"
    return None


def _names(text: str) -> set[str]:
    """Numbers, links and references: what a model must not make up."""
    return {found.rstrip(".,;:!?").casefold() for found in _NAME.findall(text)}

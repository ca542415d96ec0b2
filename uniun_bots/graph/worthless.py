"""The check of a memory: what a model wrote about a note is kept only if the note bears it out."""

from __future__ import annotations

import re

from uniun_bots.graph.memories import content_words

LEAST_WORDS = 3
MOST_CHARS = 300
_NAME = re.compile(r"\d+|(?:https?://|nostr:|npub1|note1|nevent1|naddr1)[^\s\"'<>)\]]+", re.IGNORECASE)


def worthless(summary: str, note_text: str) -> str | None:
    """Why this is no memory of the note; None when it may be kept."""
    said, known = content_words(summary), content_words(note_text)
    if len(said) < LEAST_WORDS:
        return "says next to nothing"
    if len(summary) >= len(note_text) or len(summary) > MOST_CHARS:
        return "is not short"
    if 2 * len(said & known) < len(said):
        return "shares too few words with its note"
    if strange := _names(summary) - _names(note_text):
        return f"names {min(strange)}, which its note does not"
    return None


def _names(text: str) -> set[str]:
    """Numbers, links and references: what a model must not make up."""
    return {found.rstrip(".,;:!?").casefold() for found in _NAME.findall(text)}

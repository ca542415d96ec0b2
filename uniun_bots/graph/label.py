"""What an author is called: in front of a model, and for people."""

from __future__ import annotations

import re
from collections.abc import Mapping

LABEL_CHARS = 40


def name_of(author: str, names: Mapping[str, str]) -> str:
    """For people: as they call themselves, or the beginning of the key. A draft has no author."""
    return names.get(author) or author[:8] or "draft"


def label_of(author: str, own_pubkey: str, names: Mapping[str, str]) -> str:
    """For a model: a name chosen by its bearer, on one line, short and in quotes."""
    if author == own_pubkey:
        return "you"
    name = re.sub(r'[\s\[\]()<>|:,"]+', " ", names.get(author, "")).strip()[:LABEL_CHARS].strip()
    return f'"{name}"' if name else name_of(author, {})

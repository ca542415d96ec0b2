"""What a person is called in front of a model."""

from __future__ import annotations

import re
from collections.abc import Mapping

LABEL_CHARS = 40


def label_of(author: str, own_pubkey: str, names: Mapping[str, str]) -> str:
    """A name chosen by its bearer, on one line and short; without one the beginning of the key.

    A draft has no author.
    """
    if author == own_pubkey:
        return "you"
    name = re.sub(r'[\s\[\]()<>|:,"]+', " ", names.get(author, "")).strip()[:LABEL_CHARS].strip()
    return f'"{name}"' if name else author[:8] or "draft"

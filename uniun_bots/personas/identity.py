"""How a persona file names its key without holding it."""

from __future__ import annotations

import re

FORMS = re.compile(r"env:[A-Za-z_][A-Za-z0-9_]{0,99}|key:[a-z0-9]+(-[a-z0-9]+)*")


def identity_reference(written: str) -> str:
    """Never repeats what was written: it may be the key itself."""
    if FORMS.fullmatch(written) and len(written) <= 120:
        return written
    if written.startswith("bunker://"):
        raise ValueError("bunker:// (NIP-46) is not built yet in this version: write env:NAME or key:NAME")
    if written.startswith("npub1"):
        raise ValueError("is a public key (npub); name a secret key as env:NAME or key:NAME")
    if re.fullmatch(r"[0-9a-fA-F]{32,}", written) or "sec1" in written.lower():
        raise ValueError("must not hold the key itself: write env:NAME or key:NAME")
    raise ValueError("must be env:NAME (a variable) or key:NAME (made by `uniun-bots keys new NAME`)")

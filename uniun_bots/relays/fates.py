"""A relay's OK in our words (NIP-01)."""

from __future__ import annotations

from uniun_bots.relays.receipt import Fate

REFUSALS = (
    Fate.DUPLICATE,
    Fate.RATE_LIMITED,
    Fate.AUTH_REQUIRED,
    Fate.RESTRICTED,
    Fate.BLOCKED,
    Fate.INVALID,
    Fate.POW,
    Fate.ERROR,
)


def read_fate(accepted: bool, message: str) -> Fate:
    """The boolean decides; the prefix only says why. A refused duplicate is still a relay that has it."""
    prefix = prefix_of(message)
    if accepted:
        return Fate.DUPLICATE if prefix == Fate.DUPLICATE else Fate.ACCEPTED
    return next((fate for fate in REFUSALS if prefix == fate), Fate.ERROR)


def prefix_of(message: str) -> str:
    """The machine-readable word before the colon, or nothing."""
    word, colon, _ = message.partition(":")
    return word.strip().lower() if colon and " " not in word.strip() else ""

from __future__ import annotations

import pytest

from uniun_bots.relays.fates import read_fate
from uniun_bots.relays.receipt import Fate


@pytest.mark.parametrize(
    ("accepted", "message", "fate"),
    [
        (True, "", Fate.ACCEPTED),
        (True, "duplicate: already have this event", Fate.DUPLICATE),
        (True, "pow: difficulty 25>=24", Fate.ACCEPTED),
        (False, "duplicate: already have this event", Fate.DUPLICATE),
        (False, "blocked: not on the list", Fate.BLOCKED),
        (False, "rate-limited: slow down", Fate.RATE_LIMITED),
        (False, "pow: difficulty 0 is less than 20", Fate.POW),
        (False, "auth-required: log in", Fate.AUTH_REQUIRED),
        (False, "restricted: not you", Fate.RESTRICTED),
        (False, "invalid: bad signature", Fate.INVALID),
        (False, "error: disk full", Fate.ERROR),
        (False, "", Fate.ERROR),
        (False, "I am blocked: really", Fate.ERROR),
        (False, "never heard of it", Fate.ERROR),
    ],
)
def test_the_boolean_decides_and_the_prefix_says_why(accepted: bool, message: str, fate: Fate) -> None:
    """A46: `duplicate:` and `pow:` may come with true, and a refusal may have no words at all."""
    assert read_fate(accepted, message) is fate

"""When to knock again at a relay that is away."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

SHORTEST_S = 0.25
LONGEST_S = 60.0
SHARE = 0.2
"""Of the outage so far: a relay that comes back is noticed within a quarter of the time it was away."""


@dataclass(slots=True)
class Backoff:
    """Growing, jittered, capped, and never the end."""

    random: random.Random = field(default_factory=random.Random)

    def delay_s(self, outage_s: float) -> float:
        plain = min(max(outage_s * SHARE, SHORTEST_S), LONGEST_S)
        return plain * self.random.uniform(0.8, 1.2)

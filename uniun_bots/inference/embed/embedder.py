"""The embedder contract: what every way of making vectors must offer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

PROBE = "The tide comes in twice a day, and the harbour fills with boats and voices."
"""Its vector tells two embedders of one name and one width apart."""


@dataclass(frozen=True, slots=True)
class EmbedderInfo:
    name: str
    width: int
    """Numbers in a vector."""
    probe: bytes
    """The vector of PROBE."""


class Embedder(Protocol):
    name: str
    """As the settings spell it."""

    async def load(self) -> EmbedderInfo:
        """Make it ready; the second call returns at once. Raises EngineError."""
        ...

    async def embed(self, texts: Sequence[str], *, urgent: bool = False) -> list[bytes | None]:
        """A packed vector for each text, None for one that gives none. An urgent call goes before all others.

        Raises EngineError when it is not about a text.
        """
        ...

    async def aclose(self) -> None: ...

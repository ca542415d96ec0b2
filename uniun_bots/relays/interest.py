"""Events that somebody wants to hear, and where."""

from __future__ import annotations

from dataclasses import dataclass

from uniun_bots.nostr.filter import Filter

FROM_THE_START = 0


@dataclass(frozen=True, slots=True)
class Interest:
    filter: Filter
    """Without since, until and limit: those are the gateway's."""
    relays: tuple[str, ...]
    since: int
    """Unix seconds; a repair never looks further back."""
    reader: str = ""
    """Public key that logs in where a relay demands it (NIP-42); empty: any of ours."""

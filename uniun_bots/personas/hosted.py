"""A Gana as a host runs it: its file, with the identity and the relays it resolved to."""

from __future__ import annotations

from dataclasses import dataclass

from uniun_bots.personas.gana import Gana


@dataclass(frozen=True, slots=True)
class HostedGana:
    gana: Gana
    pubkey: str
    surface: str | None
    """What it watches; None for a standalone Gana."""
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    """Relay URLs its events go to."""

    @property
    def id(self) -> str:
        return self.gana.id

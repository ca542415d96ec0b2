"""How one relay is doing, for `status`, `doctor` and the dashboard."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RefusedRead:
    """A subscription that the relay closed for good, in its own words."""

    filter: str
    reason: str


@dataclass(frozen=True, slots=True)
class RelayStatus:
    url: str
    reader: str
    """Public key of the persona whose own connection this is; empty: the shared one."""
    connected: bool
    since: float | None
    """When the present connection, or the present outage, began (Unix seconds)."""
    attempts: int
    """Connection attempts since the host started."""
    last_error: str
    last_notice: str
    last_repair: float | None
    """When everything wanted was last read completely."""
    repairs: int
    negentropy: bool | None
    """Whether the relay has NIP-77; None: not known yet."""
    refused: tuple[RefusedRead, ...] = ()
    reading: bool = False
    """What we missed is being read for the first time; one that is away or does not answer is not waited for."""
    unconfirmed: tuple[str, ...] = ()
    """Filters of REQs that the relay has answered with nothing at all: it may not serve them."""

    @property
    def healthy(self) -> bool:
        return self.connected and not self.refused and not self.unconfirmed

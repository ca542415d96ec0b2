"""What a gateway is told once: the relays of the project and how patient to be with them."""

from __future__ import annotations

from dataclasses import dataclass

from uniun_bots.personas.relay_set import RelayAddress


@dataclass(frozen=True, slots=True)
class GatewayOptions:
    relays: tuple[RelayAddress, ...] = ()
    proxy: str | None = None
    """`socks5://host:port`; with it nothing goes out beside the proxy, look-ups over HTTP are not made."""
    notification_channel_size: int = 100_000
    """Places between the socket and us. A burst larger than half of it is caught up by a repair."""
    connect_timeout_s: float = 10.0
    ok_timeout_s: float = 10.0
    answer_timeout_s: float = 10.0
    """How long a relay may take to its next word in answer to a REQ."""
    quiet_s: float = 20.0
    """A relay that said nothing for so long is asked something; without an answer the socket is given up."""
    repair_every_s: float = 60.0
    deep_repair_every_s: float = 6 * 3600.0
    overlap_s: int = 600
    """How far before its mark a relay is read again, for events that it got late."""

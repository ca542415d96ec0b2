"""What a fault proxy may do to the relay behind it. Without any, every word passes unchanged."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel

from uniun_bots.personas import scalars
from uniun_bots.personas.gana import STRICT

Flag = Annotated[bool, scalars.flag()]
Share = Annotated[float, scalars.number(0, 1)]
"""0 never, 1 always, between: by the seed."""
Count = Annotated[int, scalars.whole(1, 1_000_000)]
Wait = Annotated[float, scalars.seconds("0s", "1h")]
Words = Annotated[str, scalars.text(500)]


class Faults(BaseModel):
    model_config = STRICT

    refuse: Flag = False
    """Cut every connection and listen no more."""
    cut: Flag = False
    """Cut every connection once, at the moment this is set."""
    cut_after: Count | None = None
    """Cut a connection after so many words from the relay."""
    silent: Flag = False
    """Connections stay open and carry nothing, not even an answer to a ping: half open."""
    delay: Wait = 0.0
    """Every word from the relay comes so much later."""
    duplicate: Share = 0.0
    """EVENTs that come twice."""
    reorder: Count | None = None
    """So many EVENTs are gathered and come in another order."""
    lose_live: Share = 0.0
    """EVENTs after EOSE that never come."""
    lose_stored: Share = 0.0
    """EVENTs before EOSE that never come."""
    page: Count | None = None
    """Most stored EVENTs in answer to a REQ, whatever it asks."""
    no_eose: Flag = False
    no_negentropy: Flag = False
    """NEG-OPEN is answered with a NOTICE, as by relays without NIP-77."""
    auth: Flag = False
    """Demand a login (NIP-42) for everything."""
    close_reqs: Words | None = None
    """Answer every REQ with CLOSED and these words."""
    refuse_events: Words | None = None
    """Answer every EVENT with OK false and these words, such as `rate-limited: slow down`."""
    refuse_share: Share = 1.0
    """Of the EVENTs that `refuse_events` is about."""
    pow: Annotated[int, scalars.whole(1, 40)] | None = None
    """Refuse EVENTs with fewer leading zero bits (NIP-13), and say so in advance (NIP-11)."""
    lie: Share = 0.0
    """EVENTs that are answered with OK true and thrown away."""
    no_ok: Flag = False
    """EVENTs are taken and never answered."""
    notice: Words | None = None
    """Sent once to every new connection."""

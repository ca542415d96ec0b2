"""One turn from take to close."""

from __future__ import annotations

import logging
from dataclasses import dataclass

from uniun_bots.context.gather import Surroundings
from uniun_bots.inputs.budgets import Running
from uniun_bots.inputs.turn import Turn
from uniun_bots.journal.close import Closed
from uniun_bots.personas.hosted import HostedGana
from uniun_bots.runs.outcome import Outcome

log = logging.getLogger("uniun_bots.flow")


@dataclass(slots=True)
class Progress:
    hosted: HostedGana
    running: Running
    started_at: float
    began: float
    around: Surroundings | None = None
    run: int | None = None
    """Its number in the log, when it stands there already."""
    knowledge: tuple[str, ...] = ()
    """Ids of the notes that the run was shown as knowledge."""


def tell(turn: Turn, outcome: Outcome, closed: Closed) -> None:
    """The fate of a run in the log."""
    fate = (closed.run, turn.gana, turn.key, outcome.ending, outcome.reason)
    log.info("closed: run %d of %s on %s: %s %s", *fate)
    if closed.dead:
        log.error("dead letter: %s on %s: %s", turn.gana, turn.key, outcome.reason)

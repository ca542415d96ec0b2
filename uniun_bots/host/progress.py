"""One turn from take to close."""

from __future__ import annotations

from dataclasses import dataclass

from uniun_bots.context.gather import Surroundings
from uniun_bots.errors import UniunError
from uniun_bots.inputs.budgets import Running
from uniun_bots.personas.hosted import HostedGana


class NoModel(UniunError):
    """The engine cannot be loaded: the turn waits, without an attempt being counted."""


@dataclass(slots=True)
class Progress:
    hosted: HostedGana
    running: Running
    started_at: float
    began: float
    around: Surroundings | None = None

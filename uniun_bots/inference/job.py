"""One inference that somebody waits for."""

from __future__ import annotations

from dataclasses import dataclass

from uniun_bots.inference.request import Request


@dataclass(frozen=True, slots=True)
class Job:
    gana: str
    engine_name: str
    request: Request
    deadline: float | None = None
    """Unix seconds after which nobody wants the answer any more."""

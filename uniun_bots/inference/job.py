"""One inference that somebody waits for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from uniun_bots.inference.allowance import Allowance
from uniun_bots.inference.engine import OnPiece
from uniun_bots.inference.request import Request

JobKind = Literal["gana", "chat", "extract"]


@dataclass(frozen=True, slots=True)
class Job:
    gana: str
    """Whose job it is; of the other kinds any name that says more than the kind."""
    engine_name: str
    request: Request
    deadline: float | None = None
    """Unix seconds after which nobody wants the answer any more, time in the queue included."""
    kind: JobKind = "gana"
    due: float | None = None
    """Unix seconds at which a timer wanted it; some time after it, others have to wait."""
    foreground: bool = False
    """Somebody looks at what it makes, such as the note that was just opened."""
    allowance: Allowance | None = None
    """What its run may take of the engine, shared with the run's other jobs."""
    on_piece: OnPiece | None = None
    """Hears the answer as it is written. A job that gives way begins anew, and so does what is heard."""

    @property
    def owner(self) -> str:
        """Who is billed and bounded."""
        return self.gana if self.kind == "gana" else self.kind

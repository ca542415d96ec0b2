"""One thing that waits, or waited, for a person."""

from __future__ import annotations

import sqlite3
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from uniun_bots.approvals import payload as payloads
from uniun_bots.approvals.payload import Action, Payload
from uniun_bots.errors import UniunError


class State(StrEnum):
    WAITING = "waiting"
    ACCEPTED = "accepted"
    """A note: it is in the outbox. A reminder or a share: it is to be done."""
    DONE = "done"
    FAILED = "failed"
    REJECTED = "rejected"
    EXPIRED = "expired"
    WITHDRAWN = "withdrawn"
    """What it answers was deleted by its author, or answered by the same key elsewhere."""
    MUTED = "muted"
    """Its author asked the Gana to stop."""


class Settled(UniunError):
    """It does not wait any more: whoever came first decided."""


@dataclass(frozen=True, slots=True)
class Approval:
    number: int
    gana: str
    run: int | None
    surface: str
    key: str
    """What the run answered: a note id, or `due:<time>` for a timer."""
    answers: str | None
    """The note that the text replies to."""
    asker: str
    """Public key of that note's author; empty without one."""
    payload: Payload
    state: State
    reason: str
    """What stood in the way, what a person said, or how it went."""
    event_id: str | None
    at: float
    expires_at: float
    settled_at: float | None

    @property
    def action(self) -> Action:
        return payloads.action_of(self.payload)

    @property
    def text(self) -> str:
        return payloads.text_of(self.payload)

    def told(self) -> dict[str, Any]:
        """As JSON values."""
        return {**asdict(self), "action": str(self.action), "state": str(self.state)}


def as_approval(row: sqlite3.Row) -> Approval:
    given = {name: row[name] for name in row.keys() if name not in ("action", "payload", "digest", "state")}  # noqa: SIM118
    payload = payloads.read(Action(row["action"]), row["payload"])
    return Approval(**given, payload=payload, state=State(row["state"]))

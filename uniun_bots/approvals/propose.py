"""Put something before a person: inside of the transaction that ends a run, or by a skill in the middle of it."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from uniun_bots.approvals.payload import Payload, action_of, digest_of, written

EXPIRES_S = 86_400.0


@dataclass(frozen=True, slots=True)
class Proposal:
    gana: str
    surface: str
    key: str
    """What the run answers (`Turn.key`): the same proposal for the same key is one row."""
    payload: Payload
    answers: str | None = None
    """The note that is replied to, if one is: when its author deletes it, nothing is done."""
    asker: str = ""
    run: int | None = None


def propose(tx: sqlite3.Connection, proposal: Proposal, now: float) -> int:
    """The number under which a person finds it; that of the first when the same was proposed before."""
    payload = proposal.payload
    found = (proposal.gana, proposal.key, action_of(payload), digest_of(payload))
    tx.execute(
        "INSERT INTO approvals (gana, key, action, digest, run, surface, answers, asker, payload, at, expires_at)"
        " VALUES (?,?,?,?,?,?,?,?,?,?,?) ON CONFLICT (gana, key, action, digest) DO NOTHING",
        (
            *found,
            proposal.run,
            proposal.surface,
            proposal.answers,
            proposal.asker,
            written(payload),
            now,
            now + EXPIRES_S,
        ),
    )
    number = tx.execute(
        "SELECT number FROM approvals WHERE gana = ? AND key = ? AND action = ? AND digest = ?", found
    ).fetchone()[0]
    return int(number)

"""What a seat shows of itself, as plain JSON values."""

from __future__ import annotations

import dataclasses
from typing import Any

from uniun_bots.inference.policy.ticket import Ticket, Tier
from uniun_bots.inference.seat import Seat

SHOWN = 100
"""Waiting jobs that are listed; all are counted."""


def in_line(seat: Seat) -> list[Ticket]:
    """Those that wait, next first as far as that is known."""
    return [ticket for tier in Tier for ticket in seat.policy.queues.waiting(tier)]


def seat_status(seat: Seat) -> dict[str, Any]:
    policy, now = seat.policy, seat.steady()
    return {
        "seat": seat.name,
        "engines": list(seat.engines),
        "loaded": policy.loaded,
        "slots": policy.slots,
        "foreground": policy.queues.foreground,
        "chat_turns": policy.chat.open,
        "background_held_back": policy.chat.hold_back(now),
        "tiers": {tier.name.lower(): policy.queues.count(tier) for tier in Tier},
        "running": [_described(seat, ticket, now) for ticket in policy.running],
        "waiting": [_described(seat, ticket, now) for ticket in in_line(seat)[:SHOWN]],
        "runtimes": {owner: round(s, 3) for owner, s in policy.queues.pool.runtimes().items()},
        "engine_seconds": {owner: round(s, 3) for owner, s in policy.spent.items()},
        "extract": {
            "used_s": round(policy.budget.used(now), 3),
            "limit_s": policy.budget.limit(policy.slots),
        },
        "preemptions": [dataclasses.asdict(preemption) for preemption in seat.preemptions],
        "counters": dict(seat.counters),
    }


def _described(seat: Seat, ticket: Ticket, now: float) -> dict[str, Any]:
    waiter = seat.waiters[ticket]
    return {
        "kind": ticket.kind,
        "for": waiter.label,
        "engine": waiter.engine_name,
        "tier": seat.policy.queues.tier_of(ticket, now).name.lower(),
        "age_s": round(now - waiter.since, 3),
        "gives_way": ticket.gives_way or None,
    }

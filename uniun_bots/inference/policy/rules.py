"""The numbers of the rules; docs/scheduler.md explains each."""

from __future__ import annotations

from dataclasses import dataclass

HAIR = 1e-6
"""Seconds by which sums of floats may miss."""


@dataclass(frozen=True, slots=True)
class Rules:
    grace_s: float = 60.0
    """So long after its due time, a job of the pool is late."""
    chat_quiet_s: float = 10.0
    """For so long after a chat turn ended, no background work starts."""
    extract_share: float = 0.6
    extract_window_s: int = 300
    extract_slice_s: float = 5.0
    """Once extraction had its share, it waits until it can run for so long at least."""
    forget_s: float = 300.0
    """An owner that is away from the pool for so long starts at the minimum again."""
    affinity_s: float = 60.0
    """The longest that keeping to the loaded model delays anyone."""

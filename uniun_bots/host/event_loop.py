"""How a process that hosts runs its event loop."""

from __future__ import annotations

import sys
from collections.abc import Coroutine
from typing import Any, TypeVar

import uvloop

T = TypeVar("T")

SWITCH_S = 0.0002
"""The store's threads need the interpreter for microseconds at a time; at Python's 5 ms they queue for it instead."""


def run(main: Coroutine[Any, Any, T]) -> T:
    """As asyncio.run, on uvloop: relays hand us each message through the loop's thread-safe door."""
    sys.setswitchinterval(SWITCH_S)
    return uvloop.run(main)

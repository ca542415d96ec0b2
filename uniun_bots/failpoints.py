"""Named places where a test may kill the process, to prove that any crash is a restart from rows.

Off unless UNIUN_BOTS_FAILPOINTS is set, e.g. `closed:3` (die at the third hit of `closed`).
UNIUN_BOTS_FAILPOINT_LOG names a file that gets a line for every hit, written before dying.
"""

from __future__ import annotations

import os
import signal
from collections import Counter

NAMES = (
    "heard",
    "kept",
    "woke",
    "taken",
    "gathered",
    "round",
    "ran",
    "pinned",
    "closing",
    "closed",
    "sending",
    "sent",
    "receipted",
)
"""In the order in which the flow passes them."""
ACCEPT_NAMES = ("accepting", "accepted")
"""When a person says yes to a draft."""

INSTALL_NAMES = ("fetched", "verified", "agreed", "installing", "installed")
"""When a skill of somebody else is taken: `installing` stands inside of the transaction."""

_spec = os.environ.get("UNIUN_BOTS_FAILPOINTS", "")
_log = os.environ.get("UNIUN_BOTS_FAILPOINT_LOG", "")
_deadly: dict[str, int] = {
    name: int(nth or 1) for name, _, nth in (part.partition(":") for part in _spec.split(",") if part)
}
_hits: Counter[str] = Counter()


def hit(name: str) -> None:
    """Die here by SIGKILL when the environment says so; otherwise do nothing."""
    if not _deadly and not _log:
        return
    _hits[name] += 1
    if _log:
        with open(_log, "a") as log:
            log.write(f"{name}\n")
    if _deadly.get(name) == _hits[name]:
        os.kill(os.getpid(), signal.SIGKILL)

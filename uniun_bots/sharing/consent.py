"""A person's yes, to exactly these bytes. Without one nothing is written."""

from __future__ import annotations

import re
from typing import Protocol

from uniun_bots.errors import NotAccepted
from uniun_bots.sharing.preview import Preview

_ACCEPT = re.compile(r"sha256:([0-9a-f]{64})")


class Terminal(Protocol):
    def confirm(self, question: str) -> bool:
        """Whether a person says yes; not answering is a no."""
        ...


def ask_consent(shown: Preview, accept: str | None, terminal: Terminal | None, verb: str = "Install") -> bool:
    """False when the person says no. Raises NotAccepted when nobody can be asked, or `accept` names other bytes.

    `accept` is what a script gives for a yes: `sha256:` and the hash of what was looked at. `terminal` is None
    where nobody sits.
    """
    if accept is not None:
        return _accepted(shown, accept)
    if terminal is None:
        raise NotAccepted(
            f"nobody is there to ask: look at it with `inspect`, then give `--accept {shown.spelled_hash}`"
        )
    warned = len(shown.warnings) + len(shown.similar)
    beside = f" with {warned} {'warning' if warned == 1 else 'warnings'}" if warned else ""
    return terminal.confirm(f"{verb} this {shown.what}{beside}?")


def _accepted(shown: Preview, accept: str) -> bool:
    given = _ACCEPT.fullmatch(accept)
    if given is None:
        raise NotAccepted(
            f"--accept takes `sha256:` and 64 hex digits, as `inspect` prints them: {shown.spelled_hash}"
        )
    if given[1] != shown.hash:
        raise NotAccepted(
            f"--accept names other bytes than these, which are {shown.spelled_hash}: nothing is written"
        )
    return True

"""Where a webhook is, as it is written in a file: its address, or the variable that holds it."""

from __future__ import annotations

import re
from collections.abc import Mapping

from uniun_bots.errors import NotFound

WEBHOOK_FORM = "`https://…`, or `env:NAME`"
_ADDRESS = re.compile(r"https?://[^\s/?#@]+(/[^\s#@]*)?")
_VARIABLE = re.compile(r"env:([A-Za-z_][A-Za-z0-9_]*)", re.ASCII)


def webhook_address(written: str) -> str:
    if not (_ADDRESS.fullmatch(written) or _VARIABLE.fullmatch(written)):
        raise ValueError(
            "must be an address such as https://example.com/hook, or env:NAME for the variable that holds a secret one"
        )
    return written


def resolve_webhook(written: str, environ: Mapping[str, str]) -> str:
    """Raises NotFound, and never repeats what stands in a variable."""
    named = _VARIABLE.fullmatch(written)
    if named is None:
        return written
    found = environ.get(named[1], "")
    if not _ADDRESS.fullmatch(found):
        raise NotFound(f"the variable {named[1]} holds no web address: set it to that of the webhook")
    return found

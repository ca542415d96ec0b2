"""Ids as NIP-01 computes and spells them."""

from __future__ import annotations

import hashlib
import json
import re

from uniun_bots.errors import BadEvent
from uniun_bots.nostr.event import Draft

_id = re.compile(r"[0-9a-f]{64}").fullmatch


def is_id(text: str) -> bool:
    """Whether this is an event id or public key as filters want it: 64 lower-case hex characters."""
    return _id(text) is not None


def event_id(author: str, draft: Draft) -> str:
    """The id of the draft when `author` signs it. Raises BadEvent when it has no UTF-8 form."""
    # Python escapes as NIP-01 asks, and control characters outside its list as \u00XX, as everybody does.
    listed = [0, author, draft.created_at, draft.kind, draft.tags, draft.content]
    text = json.dumps(listed, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(as_utf8(text)).hexdigest()


def as_utf8(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise BadEvent("half a surrogate pair in the text: it has no UTF-8 form and so no id") from None

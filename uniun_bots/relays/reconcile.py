"""NIP-77 with one relay: learn which events we lack, fetch only those."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence

from uniun_bots.nostr.filter import Filter
from uniun_bots.relays.link import Link
from uniun_bots.relays.negentropy import Negentropy

log = logging.getLogger(__name__)

IDS_ASKED = 100


async def reconcile(link: Link, window: Filter, known: Sequence[tuple[str, int]]) -> bool:
    """Whether everything in the window was known or has been heard. False: no NIP-77, or cut short.

    Some ids that a relay counts never come: deleted since, or expired. Its EOSE is the end of that question.
    """
    ours = await asyncio.to_thread(Negentropy, known)
    if obstacle := await link.compare(window, ours):
        log.info("no reconciliation with %s: %s", link.url, obstacle)
        return False
    missing = list(ours.missing)
    if missing:
        log.info("missed %s: %d events", link.url, len(missing))
    for some in (missing[n : n + IDS_ASKED] for n in range(0, len(missing), IDS_ASKED)):
        if not (await link.ask(Filter(ids=tuple(some), limit=IDS_ASKED))).complete:
            return False
    return True

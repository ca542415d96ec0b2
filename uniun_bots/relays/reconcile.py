"""NIP-77: learn which events differ, fetch only those."""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Any

from nostr_sdk import EventId, NegentropyItem, NostrSdkError, SyncDirection, SyncOptions, Timestamp
from nostr_sdk import Filter as SdkFilter

from uniun_bots.nostr.filter import Filter
from uniun_bots.relays.inbox import Inbox
from uniun_bots.relays.link import Link

log = logging.getLogger(__name__)

WINDOW = 400
"""Ids compared at once: each costs a call over the language border, and the event loop waits for them."""
PATIENCE_S = 10.0
IDS_ASKED = 100

Known = Sequence[tuple[str, int]]


async def reconcile(link: Link, wanted: Filter, since: int, known: Known, inbox: Inbox) -> bool:
    """Whether everything since then is in the inbox or was known. False: not supported, or cut short."""
    for window, items in _windows(wanted, since, known):
        summary = await _sync(link, window, items)
        if summary is None or not await _arrived(link, summary, inbox):
            return False
    return True


def _windows(wanted: Filter, since: int, known: Known) -> Iterator[tuple[Filter, Known]]:
    """The time since then in parts with some 400 known ids each; no second is split."""
    ordered = sorted(known, key=lambda item: item[1])
    start, begin = since, 0
    while begin + WINDOW < len(ordered):
        last = ordered[begin + WINDOW - 1][1]
        end = begin + WINDOW
        while end < len(ordered) and ordered[end][1] == last:
            end += 1
        yield wanted.within(since=start, until=last), ordered[begin:end]
        start, begin = last + 1, end
    yield wanted.within(since=start), ordered[begin:]


async def _sync(link: Link, window: Filter, items: Known) -> Any:
    """The SDK's summary, or None. It watches only its own first deadline: a dead socket is ours to notice."""
    options = SyncOptions().direction(SyncDirection.DOWN).initial_timeout(timedelta(seconds=PATIENCE_S))
    sdk_filter = SdkFilter.from_json(json.dumps(window.as_json_object()))
    sdk_items = await asyncio.to_thread(_items, items)
    task = asyncio.ensure_future(link.sdk_relay.sync(sdk_filter, items=sdk_items, opts=options))
    try:
        await _while_it_moves(link, task)
        return task.result() if task.done() else None
    except NostrSdkError as error:
        log.info("no reconciliation with %s: %s", link.url, error)
        return None
    finally:
        task.cancel()


async def _while_it_moves(link: Link, task: asyncio.Future[Any]) -> None:
    seen_bytes = -1
    while not task.done() and link.up.is_set():
        now_bytes = link.received_bytes()
        if now_bytes == seen_bytes:
            return
        seen_bytes = now_bytes
        await asyncio.wait([task], timeout=PATIENCE_S)


def _items(known: Known) -> list[NegentropyItem]:
    return [
        NegentropyItem(id=EventId.parse(event_id), timestamp=Timestamp.from_secs(created_at))
        for event_id, created_at in known
    ]


async def _arrived(link: Link, summary: Any, inbox: Inbox) -> bool:
    """Wait until what the relay sent has come through to us; ask by id for what has not.

    Some never come: deleted since, expired, or refused by the SDK. An EOSE is the end of that question.
    """
    if not summary.remote:
        return True
    # Its EOSE comes through behind everything that was sent before it.
    barrier = await link.ask(Filter(ids=(secrets.token_hex(32),), limit=1))
    wanted = [event_id.to_hex() for event_id in summary.remote] if barrier.complete else []
    missing = [event_id for event_id in wanted if not inbox.knows(event_id)]
    for some in (missing[n : n + IDS_ASKED] for n in range(0, len(missing), IDS_ASKED)):
        if not (await link.ask(Filter(ids=tuple(some), limit=IDS_ASKED))).complete:
            return False
    return barrier.complete

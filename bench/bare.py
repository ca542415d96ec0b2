"""The bare sides: a nostr-sdk client that only counts, and an echo bot that only echoes.

`python -m bench.bare count URL FILTERS EXPECTED` prints `ready`, then one JSON line with what it counted.
`python -m bench.bare echo URL FILTERS` prints `ready`, echoes until it is ended, and answers a line with its stamps.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from datetime import timedelta

from nostr_sdk import (
    Client,
    ClientBuilder,
    EventBuilder,
    Filter,
    Keys,
    Kind,
    RelayUrl,
    ReqTarget,
    Tag,
    uniffi_set_event_loop,
)

QUIET_S = 3.0


async def connected(url: str, filters: str) -> tuple[Client, object]:
    client = ClientBuilder().notification_channel_size(100_000).build()
    await client.add_relay(RelayUrl.parse(url), and_connect=True)
    await client.connect(and_wait=timedelta(seconds=5))
    stream = client.notifications()
    wanted = [Filter.from_json(json.dumps(one)) for one in json.loads(filters)]
    await client.subscribe(ReqTarget.auto(wanted), id="bare")
    return client, stream


async def count(url: str, filters: str, expected: str) -> None:
    _, stream = await connected(url, filters)
    print("ready", flush=True)
    seen, first, last = 0, 0.0, 0.0
    while seen < int(expected):
        try:
            notification = await asyncio.wait_for(stream.next(), QUIET_S if seen else None)  # type: ignore[attr-defined]
        except TimeoutError:
            break
        if notification.is_new_event():
            last = time.perf_counter()
            first = first or last
            seen += 1
    print(json.dumps({"events": seen, "seconds": last - first}), flush=True)


async def echo(url: str, filters: str) -> None:
    """Answers each event and waits for the relay's OK before the next: what a simple bot does."""
    client, stream = await connected(url, filters)
    keys = Keys.parse(os.environ["BENCH_NSEC"])
    own = keys.public_key().to_hex()
    stamps: list[dict[str, object]] = []
    telling = asyncio.create_task(tell(stamps))
    print("ready", flush=True)
    while not telling.done():
        notification = await stream.next()  # type: ignore[attr-defined]
        if not notification.is_new_event():
            continue
        event = notification.event
        if event.author().to_hex() == own:
            continue
        heard = time.time()
        note_id = event.id().to_hex()
        tags = [Tag.parse(["e", note_id, url, "root"]), Tag.parse(["p", event.author().to_hex()])]
        reply = EventBuilder(Kind(1), f"echo of {note_id}").tags(tags).finalize(keys)
        await client.send_event(reply)
        stamps.append({"id": note_id, "heard": heard, "ok": time.time()})


async def tell(stamps: list[dict[str, object]]) -> None:
    while await asyncio.to_thread(sys.stdin.readline):
        print(json.dumps(stamps), flush=True)


async def main() -> None:
    uniffi_set_event_loop(asyncio.get_running_loop())
    await (count if sys.argv[1] == "count" else echo)(*sys.argv[2:])


if __name__ == "__main__":
    asyncio.run(main())

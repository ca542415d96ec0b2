"""The bare sides: a nostr-sdk client that only counts, and echo bots: one that only echoes, one that loses nothing.

`python -m bench.bare count URL FILTERS EXPECTED` prints `ready`, then one JSON line with what it counted.
`python -m bench.bare echo URL FILTERS` prints `ready`, echoes until it is ended, and answers a line with its stamps.
`python -m bench.bare durable URL FILTERS FILE` does that with a database: each input is answered once, also after a
crash, in the plainest form that keeps this promise.
"""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta

from nostr_sdk import (
    Client,
    ClientBuilder,
    Event,
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

    async def send(client: Client, note: Event, reply: Event) -> None:
        await client.send_event(reply)

    await answering(url, filters, send)


async def durable(url: str, filters: str, file: str) -> None:
    """Input, reply and outbox in one commit before the reply is sent; what was not taken is sent at the next start."""
    store = sqlite3.connect(file, isolation_level=None)
    store.execute("PRAGMA journal_mode=WAL")
    store.execute("PRAGMA synchronous=FULL")
    store.execute("CREATE TABLE IF NOT EXISTS notes (id TEXT PRIMARY KEY, raw TEXT NOT NULL)")
    store.execute("CREATE TABLE IF NOT EXISTS answered (input TEXT PRIMARY KEY, reply TEXT NOT NULL)")
    store.execute("CREATE TABLE IF NOT EXISTS outbox (reply TEXT PRIMARY KEY)")

    async def send(client: Client, note: Event, reply: Event) -> None:
        note_id, reply_id = note.id().to_hex(), reply.id().to_hex()
        store.execute("BEGIN IMMEDIATE")
        fresh = store.execute("INSERT OR IGNORE INTO answered VALUES (?, ?)", (note_id, reply_id)).rowcount
        if fresh:
            both = [(note_id, note.as_json()), (reply_id, reply.as_json())]
            store.executemany("INSERT OR IGNORE INTO notes VALUES (?, ?)", both)
            store.execute("INSERT INTO outbox VALUES (?)", (reply_id,))
        store.execute("COMMIT")
        if fresh:
            await client.send_event(reply)
            store.execute("DELETE FROM outbox WHERE reply = ?", (reply_id,))

    waiting = store.execute("SELECT raw FROM outbox JOIN notes ON id = reply").fetchall()
    await answering(url, filters, send, [Event.from_json(raw) for (raw,) in waiting])


Send = Callable[[Client, Event, Event], Awaitable[None]]


async def answering(url: str, filters: str, send: Send, waiting: Sequence[Event] = ()) -> None:
    client, stream = await connected(url, filters)
    for reply in waiting:
        await client.send_event(reply)
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
        await send(client, event, reply)
        stamps.append({"id": note_id, "heard": heard, "ok": time.time()})


async def tell(stamps: list[dict[str, object]]) -> None:
    while await asyncio.to_thread(sys.stdin.readline):
        print(json.dumps(stamps), flush=True)


async def main() -> None:
    uniffi_set_event_loop(asyncio.get_running_loop())
    sides: dict[str, Callable[..., Awaitable[None]]] = {"count": count, "echo": echo, "durable": durable}
    await sides[sys.argv[1]](*sys.argv[2:])


if __name__ == "__main__":
    asyncio.run(main())

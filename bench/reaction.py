"""What the host adds around the model, beside a bare nostr-sdk echo bot on a relay of the same kind, in one run.

One input at a time: relay event to model request, and model answer to relay OK (debounce 0). Then everything at
once: durable replies a second with a model that answers instantly, each input from another author; in several rounds,
of which the median ratio is told. A third side tells what durability alone costs: the echo bot with a database.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import sqlite3
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import aiohttp

from bench import world
from bench.report import arguments, quantile, report, spread

QUIET_S = 6.0
FIRST_S = 60.0
"""A host asks for the profiles of those who write before it answers the first of thousands."""
GAP_S = 0.06
"""So that what is left to do after one reply is not measured with the next input."""


async def one_at_a_time(url: str, events: list[str]) -> dict[str, float]:
    """Post each input when the one before was answered; when each was sent, by id."""
    sent: dict[str, float] = {}
    async with aiohttp.ClientSession() as session, session.ws_connect(url) as socket:
        await socket.send_str(json.dumps(["REQ", "replies", replies_filter()]))
        for event in events:
            note_id = json.loads(event)["id"]
            sent[note_id] = time.time()
            await socket.send_str(f'["EVENT",{event}]')
            await answer_to(socket, note_id)
            await asyncio.sleep(GAP_S)
    return sent


async def answer_to(socket: aiohttp.ClientWebSocketResponse, note_id: str) -> None:
    while True:
        message = json.loads((await socket.receive(timeout=20)).data)
        if message[0] == "EVENT" and any(tag[1] == note_id for tag in message[2]["tags"]):
            return


async def all_at_once(url: str, events: list[str]) -> tuple[int, float]:
    """(replies read back, seconds from the first input to the last reply)."""
    async with (
        aiohttp.ClientSession() as session,
        session.ws_connect(url, max_msg_size=0) as reader,
        session.ws_connect(url) as writer,
    ):
        await reader.send_str(json.dumps(["REQ", "replies", replies_filter()]))
        began = last = time.perf_counter()
        posting = asyncio.create_task(post(writer, events))
        replies: set[str] = set()
        while len(replies) < len(events):
            try:
                message = json.loads((await reader.receive(timeout=QUIET_S if replies else FIRST_S)).data)
            except TimeoutError:
                break
            if message[0] == "EVENT":
                replies.add(message[2]["id"])
                last = time.perf_counter()
        await posting
        return len(replies), last - began


async def post(socket: aiohttp.ClientWebSocketResponse, events: list[str]) -> None:
    async def drain() -> None:
        for _ in events:
            await socket.receive(timeout=30)

    draining = asyncio.create_task(drain())
    for event in events:
        await socket.send_str(f'["EVENT",{event}]')
    await draining


def replies_filter() -> dict[str, Any]:
    return {"kinds": [1], "authors": [world.BOT.public_key().to_hex()], "limit": 0}


def inputs_filter() -> str:
    """What names the bot. Its own replies do not match, so that they are not sent back to the echo bot."""
    return json.dumps([{"kinds": [1], "#p": [world.BOT.public_key().to_hex()]}])


def bare(kind: str, singles: list[str], burst: list[str]) -> dict[str, Any]:
    """`kind`: echo or durable. Without `singles` the burst alone."""
    env = {"BENCH_NSEC": world.BOT.secret_key().to_bech32()}
    with (
        tempfile.TemporaryDirectory() as folder,
        world.relay() as url,
        world.child("-m", "bench.bare", kind, url, inputs_filter(), *files(kind, folder), env=env) as bot,
    ):
        world.line_of(bot)
        sent = asyncio.run(one_at_a_time(url, singles))
        stamps = world.ask(bot, "stamps")
        replies, seconds = asyncio.run(all_at_once(url, burst))
    return {
        "event_to_request": [1000 * (one["heard"] - sent[one["id"]]) for one in stamps],
        "answer_to_ok": [1000 * (one["ok"] - one["heard"]) for one in stamps],
        "replies": replies,
        "rate": replies / seconds,
    }


def files(kind: str, folder: str) -> list[str]:
    return [f"{folder}/bot.sqlite"] if kind == "durable" else []


def hosted(singles: list[str], burst: list[str]) -> dict[str, Any]:
    """As `bare` the echo bot."""
    with tempfile.TemporaryDirectory() as folder, world.relay() as url:
        project = Path(folder) / "project"
        env = world.write_project(project, url, [], 1)
        with world.child("-m", "bench.hosting", str(project), env=env) as host:
            world.line_of(host)
            sent = list(asyncio.run(one_at_a_time(url, singles)).values())
            stamps = world.ask(host, "stamps")
            oks = receipt_times(project / "data" / "uniun-bots.sqlite", len(singles))
            replies, seconds = asyncio.run(all_at_once(url, burst))
    return {
        "event_to_request": [1000 * (at - was) for at, was in zip(stamps["requested"], sent, strict=True)],
        "answer_to_ok": [1000 * (ok - at) for ok, at in zip(oks, stamps["answered"], strict=True)],
        "replies": replies,
        "rate": replies / seconds,
    }


def receipt_times(database: Path, expected: int) -> list[float]:
    with contextlib.closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as conn:
        while True:
            rows = conn.execute("SELECT at FROM receipts WHERE fate = 'accepted' ORDER BY at").fetchall()
            if len(rows) >= expected:
                return [row[0] for row in rows]
            time.sleep(0.01)


def main() -> None:
    quick = arguments(__doc__).quick
    few, many, rounds = (100, 600, 1) if quick else (500, 3000, 3)
    singles = world.mentions(few, authors=5)
    found: list[tuple[dict[str, Any], ...]] = []
    for first in (singles, *([[]] * (rounds - 1))):
        # Written anew: a Gana does not answer what is older than the moment it was turned on.
        burst = world.mentions(many, authors=many)
        found.append((hosted(first, burst), bare("echo", first, burst), bare("durable", [], burst)))
    ours, theirs, _ = found[0]
    for step in ("event_to_request", "answer_to_ok"):
        host, echo = ours[step], theirs[step]
        raw: dict[str, Any] = {"host": spread(host), "bare": spread(echo)}
        over = quantile(host, 0.5) - quantile(echo, 0.5)
        report(f"reaction.{step}.p50_over_bare", over, few, raw, quick=quick)
        report(f"reaction.{step}.p99", quantile(host, 0.99), few, raw, quick=quick)
    raw = {
        side: {
            "replies": [one["replies"] for one in each],
            "of": many,
            "rate": [round(one["rate"]) for one in each],
        }
        for side, each in zip(("host", "bare", "durable"), zip(*found, strict=True), strict=True)
    }
    ratios = [host["rate"] / echo["rate"] if host["replies"] == many else 0.0 for host, echo, _ in found]
    report("reaction.replies_over_bare", statistics.median(ratios), many * rounds, raw, quick=quick)


if __name__ == "__main__":
    main()

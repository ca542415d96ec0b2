"""How soon a chat begins when a Gana's round is under way, and what the round has to read again afterwards."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Sequence
from itertools import count

from bench.report import arguments, quantile, report, spread
from bench.rounds import Attempt, Heard, chat, give_way, round_of
from bench.stock import BUNDLED, Stock
from uniun_bots.inference.llama.engine import LlamaEngine
from uniun_bots.inference.llama.live_sequence import SLICE_TOKENS

CONTEXT_TOKENS = 2048
WRITTEN_TOKENS = 200
STOCK_WRITTEN_TOKENS = 30
SLICE_S = 0.2


async def while_it_reads(
    engine: LlamaEngine, tries: int, tokens: int, times: int, rng: random.Random
) -> tuple[list[float], list[int]]:
    """Milliseconds until each chat began, and of each try the tokens to be read again.

    A round gives way several times, and still ends: it goes on from where it was.
    """
    waits, again = list[float](), list[int]()
    for number in count():
        request = round_of(number, tokens, 1)
        attempts = [await give_way(engine, request, Heard(rng.randint(2, 3)), rng) for _ in range(times)]
        attempts = [attempt for attempt in attempts if attempt.gave_way]
        last = await engine.generate(request)
        waits += [attempt.chat_began_after_ms for attempt in attempts]
        again += read_again(attempts, last.reused_tokens)
        if len(waits) >= tries:
            break
    return waits[:tries], again[:tries]


async def while_it_writes(
    engine: LlamaEngine, tries: int, tokens: int, rng: random.Random
) -> tuple[list[float], list[int]]:
    attempts = list[Attempt]()
    for seed in count():
        request = round_of(10**6, tokens, WRITTEN_TOKENS, seed)
        attempt = await give_way(engine, request, Heard(rng.randint(1, 4), text=True), rng)
        attempts += [attempt] if attempt.gave_way else []
        if len(attempts) == tries:
            break
    last = await engine.generate(round_of(10**6, tokens, 1))
    return [attempt.chat_began_after_ms for attempt in attempts], read_again(attempts, last.reused_tokens)


def read_again(attempts: Sequence[Attempt], reused_at_last: int) -> list[int]:
    """What was known or evaluated when it gave way and was not reused by the next."""
    reused = [*(attempt.reused_tokens for attempt in attempts[1:]), reused_at_last]
    return [
        attempt.reused_tokens + attempt.evaluated_tokens - known
        for attempt, known in zip(attempts, reused, strict=True)
    ]


async def stock_waits(stock: Stock, tries: int, tokens: int, *, writing: bool, first: int) -> list[float]:
    """The same with a lock: the chat begins when the round has ended."""
    waits = []
    for number in range(first, first + tries):
        running = asyncio.create_task(
            stock.generate(round_of(number, tokens, STOCK_WRITTEN_TOKENS if writing else 1))
        )
        await asyncio.sleep(SLICE_S)
        if writing:
            await asyncio.to_thread(stock.writes.wait)
        arrived = time.perf_counter()
        taken = await stock.generate(chat(number))
        waits.append((taken.started - arrived) * 1000)
        await running
    return waits


async def main() -> None:
    quick = arguments(__doc__).quick
    tokens, tries, times, stock_tries = (300, 6, 2, 1) if quick else (1500, 100, 5, 5)
    rng = random.Random(7)
    engine = LlamaEngine(BUNDLED, context_tokens=CONTEXT_TOKENS)
    await engine.load()
    reading, reading_again = await while_it_reads(engine, tries, tokens, times, rng)
    writing, writing_again = await while_it_writes(engine, tries, tokens, rng)
    await engine.aclose()
    stock = Stock(CONTEXT_TOKENS, plain=engine.is_plain)
    stock_reading = await stock_waits(stock, stock_tries, tokens, writing=False, first=0)
    stock_writing = await stock_waits(stock, stock_tries, tokens, writing=True, first=stock_tries)
    for name, waits, beside in (("reads", reading, stock_reading), ("writes", writing, stock_writing)):
        raw = {"chat_began_after_ms": spread(waits), "stock_ms": spread(beside), "stock_tries": len(beside)}
        report(f"preemption.while_it_{name}.p99", quantile(waits, 0.99), len(waits), raw, quick=quick)
    again = [*reading_again, *writing_again]
    beyond = max(0.0, (max(again) - SLICE_TOKENS) / tokens)
    tokens_raw = {"reading": spread(reading_again), "writing": spread(writing_again), "prompt": tokens}
    report(
        "preemption.evaluated_again_beyond_a_slice", beyond, len(again), {"tokens": tokens_raw}, quick=quick
    )


if __name__ == "__main__":
    asyncio.run(main())

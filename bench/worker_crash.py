"""SIGKILL for the worker while it generates: what becomes of the jobs, of the host's memory, and how soon it serves."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import statistics
import subprocess
import sys
import time

from bench.hosting import resident_mb
from bench.report import arguments, report, spread
from bench.rounds import Heard, chat, round_of
from bench.stock import BUNDLED
from uniun_bots.errors import EngineError
from uniun_bots.inference.completion import Completion
from uniun_bots.inference.llama.engine import LlamaEngine

QUEUED = 2
"""Jobs that wait while the one that is hit runs."""
TOKENS = 150
SETTLED = 5
"""Kills after which the host's memory is taken as its normal size."""


async def kill_once(engine: LlamaEngine, number: int, rng: random.Random) -> tuple[list[object], float]:
    """How all jobs ended, and the seconds until the next one was being served."""
    heard, next_heard = Heard(rng.randint(1, 3)), Heard(1)
    jobs = [asyncio.create_task(engine.generate(round_of(number, TOKENS, 20), heard))]
    await heard.wait()
    if (pid := engine.worker_pid) is None:
        raise RuntimeError("the worker is not there")
    jobs.append(asyncio.create_task(engine.generate(chat(number), next_heard)))
    jobs += [asyncio.create_task(engine.generate(chat(number))) for _ in range(QUEUED - 1)]
    killed = time.perf_counter()
    os.kill(pid, signal.SIGKILL)
    ends: list[object] = list(await asyncio.gather(*jobs, return_exceptions=True))
    return ends, next_heard.first_at - killed


def stock_starts(tries: int, *, plain: bool) -> list[float]:
    """A process of the stock way, from its start to its first token: all that was in it is lost."""
    taken = []
    for _ in range(tries):
        began = time.perf_counter()
        subprocess.run([sys.executable, "-m", "bench.stock", "plain" if plain else "layouts"], check=True)
        taken.append(time.perf_counter() - began)
    return taken


async def main() -> None:
    quick = arguments(__doc__).quick
    kills = 8 if quick else 50
    rng = random.Random(7)
    engine = LlamaEngine(BUNDLED, context_tokens=1024)
    await engine.load()
    before = engine.health().deaths
    ends, again, memory = list[object](), list[float](), list[float]()
    for number in range(kills):
        ended, seconds = await kill_once(engine, number, rng)
        ends += ended
        again.append(seconds)
        memory.append(resident_mb())
    deaths = engine.health().deaths - before
    await engine.aclose()
    answered = sum(isinstance(end, Completion) for end in ends)
    told = sum(isinstance(end, EngineError) for end in ends)
    raw = {"kills": kills, "deaths": deaths, "answered": answered, "told": told}
    unclear = len(ends) - answered - told
    report("worker_crash.neither_answer_nor_error", unclear, len(ends), raw, quick=quick)
    growth = max(memory[SETTLED:]) - max(memory[:SETTLED])
    report("worker_crash.host_memory_growth", growth, kills, {"MB": spread(memory)}, quick=quick)
    stock = await asyncio.to_thread(stock_starts, 1 if quick else 5, plain=engine.is_plain)
    times = {"seconds": spread(again), "stock_process_seconds": spread(stock)}
    report("worker_crash.serves_again.p50", statistics.median(again), kills, times, quick=quick)


if __name__ == "__main__":
    asyncio.run(main())

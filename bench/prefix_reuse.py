"""Prompt tokens evaluated for a session of four rounds with a chat between all rounds."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from bench.report import arguments, report
from bench.rounds import TIDE, chat
from bench.stock import BUNDLED, Stock
from uniun_bots.inference.llama.engine import LlamaEngine
from uniun_bots.inference.request import Message, Request

ROUNDS = 4
WRITTEN_TOKENS = 24

Ask = Callable[[Request], Awaitable[tuple[str, int, int]]]
"""Text, prompt tokens, and how many of them were evaluated."""


async def session(ask: Ask, first: int, more: int) -> dict[str, Any]:
    messages = [Message("system", "Use what you are given."), Message("user", TIDE * (first // 11))]
    evaluated, prompt = [], 0
    for number in range(ROUNDS):
        text, prompt, fed = await ask(Request(tuple(messages), WRITTEN_TOKENS, 0.0))
        evaluated.append(fed)
        found = Message("user", f"Result {number}: {TIDE * (more // 11)}")
        messages += [Message("assistant", text), found]
        if number < ROUNDS - 1:
            await ask(chat(number))
    return {"evaluated": evaluated, "prompt": prompt, "ratio": round(sum(evaluated) / prompt, 4)}


async def main() -> None:
    quick = arguments(__doc__).quick
    first, more = (250, 60) if quick else (600, 300)
    engine = LlamaEngine(BUNDLED, context_tokens=2048)

    async def ask_engine(request: Request) -> tuple[str, int, int]:
        answer = await engine.generate(request)
        return answer.text, answer.prompt_tokens, answer.evaluated_tokens

    ours = await session(ask_engine, first, more)
    await engine.aclose()
    stock = Stock(2048, plain=engine.is_plain)

    async def ask_stock(request: Request) -> tuple[str, int, int]:
        taken = await stock.generate(request)
        return taken.text, taken.prompt_tokens, taken.evaluated_tokens

    raw = {"kept": ours, "stock": await session(ask_stock, first, more)}
    report("prefix_reuse.evaluated_over_prompt", ours["ratio"], ROUNDS, raw, quick=quick)


if __name__ == "__main__":
    asyncio.run(main())

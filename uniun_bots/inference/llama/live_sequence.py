"""The one sequence that is in llama.cpp's context, and how it changes places with kept ones.

Copies are made when another prompt is about to take the place, not before: a session that just goes on costs none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import llama_cpp

from uniun_bots.errors import EngineError
from uniun_bots.inference.llama.kept_states import KeptState, KeptStates

SLICE_TOKENS = 64
"""Prompt tokens per decode: what a cancel may lose; throughput is that of the usual 512."""
LEAST_GAIN_TOKENS = 16
"""To read fewer tokens than these is as quick as to bring a kept state back."""
SEQUENCE = 0


class Cancelled(Exception):
    """The abort callback, or the flag between two tokens, ended the request."""


@dataclass(slots=True)
class Spent:
    """By llama.cpp's own counters. A slice that was aborted counts in full."""

    tokens: int = 0
    ms: float = 0.0


class LiveSequence:
    def __init__(self, context: Any, state_bytes: int) -> None:
        self.abort = False
        self.tokens: list[int] = []
        """Tokens whose state is in the context."""
        self.kept = KeptStates(state_bytes)
        self._context = context
        self._memory = llama_cpp.llama_get_memory(context)
        self._abort_callback = llama_cpp.ggml_abort_callback(lambda _: self.abort)
        llama_cpp.llama_set_abort_callback(context, self._abort_callback, None)

    def warm_up(self, token: int) -> None:
        """A full slice and one token more: a processor that lacks what it promises is found before anybody
        waits. Also learns whether this kind of model can forget a part (recurrent ones cannot)."""
        self.decode([token] * SLICE_TOKENS)
        # llama.cpp reports one single token where there was none: let there be one before anything is counted.
        self._counters()
        self.decode([token])
        self.kept.whole_only = self.trim(SLICE_TOKENS) < SLICE_TOKENS
        self.trim(0)

    def reuse(self, wanted: Sequence[int]) -> int:
        """Bring in the longest known beginning of `wanted`; returns how many tokens need no evaluation."""
        here = self.kept.usable(self.tokens, wanted)
        state, there = self.kept.closest(wanted)
        if state is not None and there >= here + LEAST_GAIN_TOKENS:
            self.kept.touch(state)
            self._put_away(0, beside=state)
            here = there if self._bring_back(state) else 0
        else:
            self._put_away(here)
        return self.trim(here)

    def mark(self) -> None:
        """The prompt is read. Models that cannot go back need a copy of this point to come back to it."""
        if self.kept.whole_only:
            self._put_away(0)

    def decode(self, tokens: Sequence[int]) -> None:
        """Raises Cancelled, EngineError; what was in the context before stays there."""
        if self.abort:
            raise Cancelled
        # The batch only points at the array: it has to outlive the call.
        array = (llama_cpp.llama_token * len(tokens))(*tokens)
        code = llama_cpp.llama_decode(self._context, llama_cpp.llama_batch_get_one(array, len(tokens)))
        if code == 0:
            self.tokens += tokens
            return
        # Of an aborted or failed batch nothing is trusted; the slices before it stay.
        self.trim(len(self.tokens))
        if code == 2:
            raise Cancelled
        raise EngineError(f"llama.cpp could not decode (code {code})")

    def trim(self, count: int) -> int:
        """Forget what is behind the first `count` tokens; models that cannot go back forget all."""
        if not count or not llama_cpp.llama_memory_seq_rm(self._memory, SEQUENCE, count, -1):
            self._clear()
        del self.tokens[count:]
        return len(self.tokens)

    @contextmanager
    def metered(self, spent: Spent) -> Iterator[None]:
        tokens, ms = self._counters()
        try:
            yield
        finally:
            tokens_after, ms_after = self._counters()
            spent.tokens += tokens_after - tokens
            spent.ms += ms_after - ms

    def _put_away(self, staying: int, beside: KeptState | None = None) -> None:
        """Keep a copy, unless hardly anything goes away, there is a copy already, or it does not fit beside the
        one that is about to come back."""
        if len(self.tokens) - staying < LEAST_GAIN_TOKENS or self.kept.covers(self.tokens):
            return
        size = int(llama_cpp.llama_state_seq_get_size(self._context, SEQUENCE))
        self.kept.keep(
            self.tokens,
            size,
            lambda data: int(llama_cpp.llama_state_seq_get_data(self._context, data, size, SEQUENCE)),
            beside,
        )

    def _bring_back(self, state: KeptState) -> bool:
        self._clear()
        size = state.size_bytes
        if not state.lend(
            lambda data: int(llama_cpp.llama_state_seq_set_data(self._context, data, size, SEQUENCE))
        ):
            self._clear()
            self.kept.forget(state)
            return False
        self.tokens = list(state.tokens)
        return True

    def _clear(self) -> None:
        llama_cpp.llama_memory_clear(self._memory, False)
        self.tokens.clear()

    def _counters(self) -> tuple[int, float]:
        llama_cpp.llama_synchronize(self._context)
        data = llama_cpp.llama_perf_context(self._context)
        return data.n_p_eval + data.n_eval, data.t_p_eval_ms + data.t_eval_ms

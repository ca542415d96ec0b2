"""One GGUF model with one context, over llama.cpp's C functions. Lives in the worker process only.

Made for one thread.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import llama_cpp

from uniun_bots.clock import monotonic
from uniun_bots.errors import ModelUnusable, PromptTooLong, SchemaRefused
from uniun_bots.inference.completion import Finish
from uniun_bots.inference.llama.chat_template import FALLBACK_STOP
from uniun_bots.inference.llama.grammar import grammar_of
from uniun_bots.inference.llama.live_sequence import SLICE_TOKENS, Cancelled, LiveSequence, Spent
from uniun_bots.inference.llama.opened import Opened
from uniun_bots.inference.llama.protocol import Counts, Done, Load
from uniun_bots.inference.llama.text_stream import TextStream
from uniun_bots.inference.llama.vocabulary import Vocabulary
from uniun_bots.inference.request import Request

MOST_THREADS = 8
TOP_K = 40
MIN_P = 0.05
REPEAT_LAST_TOKENS = 64
REPEAT_PENALTY = 1.1
"""Small models go round in circles without it; JSON, which has to repeat itself, is asked for without it."""


class Model:
    def __init__(self, load: Load) -> None:
        self._forget_counts()
        self._opened = Opened(load)
        self._words = Vocabulary(self._opened.model)
        self._vocab = self._words.pointer
        self._context = self._new_context(load)
        self.context_tokens = int(llama_cpp.llama_n_ctx(self._context))
        self.sequence = LiveSequence(self._context, load.state_bytes)
        self.sequence.warm_up(max(0, llama_cpp.llama_vocab_eos(self._vocab)))

    def generate(self, number: int, request: Request, tell: Callable[[str], None]) -> Done:
        """`tell` gets every piece of text; empty ones when it starts, and for each slice of the prompt."""
        started = monotonic()
        self._forget_counts()
        prompt = self._words.prompt(request.messages)
        if len(prompt) + request.max_tokens > self.context_tokens:
            raise PromptTooLong(len(prompt), self.context_tokens, request.max_tokens)
        with self._sampler(request) as sampler:
            self._read(prompt, tell)
            stream, finish = self._write(sampler, request, tell)
        return Done(number, stream.text, finish, self.counts(), monotonic() - started)

    def counts(self) -> Counts:
        """Of the last request, however it ended."""
        return Counts(
            prompt_tokens=self._prompt_tokens,
            reused_tokens=self._reused_tokens,
            evaluated_tokens=self._evaluating.tokens,
            generated_tokens=self._generated_tokens,
            reuse_ms=self._reuse_ms,
            evaluate_ms=self._evaluating.ms,
            generate_ms=self._generating.ms,
            kept_states=len(self.sequence.kept),
            kept_bytes=self.sequence.kept.size_bytes,
        )

    def _forget_counts(self) -> None:
        self._prompt_tokens = self._reused_tokens = self._generated_tokens = 0
        self._reuse_ms = 0.0
        self._evaluating, self._generating = Spent(), Spent()

    def _read(self, prompt: list[int], tell: Callable[[str], None]) -> None:
        """The last token is always evaluated, and by itself: so a prompt gives the same numbers to the last bit
        whether it is read in one go or gives way and is read on."""
        started = monotonic()
        if self.sequence.abort:
            raise Cancelled
        *first, last = prompt
        self._prompt_tokens = len(prompt)
        self._reused_tokens = reused = self.sequence.reuse(first)
        self._reuse_ms = (monotonic() - started) * 1000
        tell("")
        with self.sequence.metered(self._evaluating):
            for at in range(reused, len(first), SLICE_TOKENS):
                self.sequence.decode(first[at : at + SLICE_TOKENS])
                tell("")
            self.sequence.mark()
            self.sequence.decode([last])

    def _write(
        self, sampler: Any, request: Request, tell: Callable[[str], None]
    ) -> tuple[TextStream, Finish]:
        stop = request.stop + (FALLBACK_STOP if self._words.template.is_fallback else ())
        stream, finish = TextStream(stop), "length"
        with self.sequence.metered(self._generating):
            for left in range(request.max_tokens, 0, -1):
                token = llama_cpp.llama_sampler_sample(sampler, self._context, -1)
                self._generated_tokens += 1
                if llama_cpp.llama_vocab_is_eog(self._vocab, token):
                    finish = "stop"
                    break
                tell(stream.feed(self._words.spell(token)))
                if stream.stopped:
                    finish = "stop"
                    break
                if left > 1:
                    self.sequence.decode([token])
        if rest := stream.feed(b"", last=True):
            tell(rest)
        return stream, "stop" if finish == "stop" else "length"

    @contextmanager
    def _sampler(self, request: Request) -> Iterator[Any]:
        chain = llama_cpp.llama_sampler_chain_init(llama_cpp.llama_sampler_chain_default_params())
        try:
            for link in self._links(request):
                llama_cpp.llama_sampler_chain_add(chain, link)
            yield chain
        finally:
            llama_cpp.llama_sampler_free(chain)

    def _links(self, request: Request) -> Iterator[Any]:
        if request.json_schema is not None:
            yield self._grammar(request.json_schema)
        else:
            vocabulary = llama_cpp.llama_vocab_n_tokens(self._vocab)
            yield llama_cpp.llama_sampler_init_penalties(
                vocabulary, REPEAT_LAST_TOKENS, REPEAT_PENALTY, 0.0, 0.0
            )
        if request.temperature <= 0:
            yield llama_cpp.llama_sampler_init_greedy()
            return
        yield llama_cpp.llama_sampler_init_top_k(TOP_K)
        yield llama_cpp.llama_sampler_init_top_p(request.top_p, 1)
        yield llama_cpp.llama_sampler_init_min_p(MIN_P, 1)
        yield llama_cpp.llama_sampler_init_temp(request.temperature)
        seed = llama_cpp.LLAMA_DEFAULT_SEED if request.seed is None else request.seed & 0xFFFFFFFF
        yield llama_cpp.llama_sampler_init_dist(seed)

    def _grammar(self, schema: str) -> Any:
        """Raises SchemaRefused."""
        self._opened.forget_words()
        grammar = grammar_of(schema).encode()
        sampler = llama_cpp.llama_sampler_init_grammar(self._vocab, grammar, b"root")
        if not sampler:
            raise SchemaRefused(
                f"the JSON schema gives a grammar that llama.cpp refuses{self._opened.last_words()}"
            )
        return sampler

    def _new_context(self, load: Load) -> Any:
        params = llama_cpp.llama_context_default_params()
        params.n_ctx = self._opened.context_tokens
        params.n_batch = params.n_ubatch = SLICE_TOKENS
        params.no_perf = False
        params.n_threads = params.n_threads_batch = load.threads or spare_cores()
        context = llama_cpp.llama_init_from_model(self._opened.model, params)
        if not context:
            raise ModelUnusable(
                f"a context of {params.n_ctx} tokens cannot be made; set a smaller `context`"
                + self._opened.last_words()
            )
        return context


def spare_cores() -> int:
    """All but one: llama.cpp's threads wait for each other by spinning, and any other load on their cores
    makes all of them slow (two threads on two busy cores: a third of the speed of one)."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(cores - 1, MOST_THREADS))

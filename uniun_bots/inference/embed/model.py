"""One embedding model over llama.cpp's C functions. Lives in the worker process only."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

import llama_cpp

from uniun_bots.errors import EngineError, ModelUnusable
from uniun_bots.inference.embed import minilm
from uniun_bots.inference.embed.vector import pack_or_none

MOST_TOKENS = 512
"""Read of a text. What follows is found by its words."""
MOST_LETTERS = 10_000
NO_POOLING = 0
MEAN_POOLING = 1
Q8_0 = 7
"""LLAMA_FTYPE_MOSTLY_Q8_0"""


class EmbeddingModel:
    def __init__(self, path: Path, *, plain: bool, tokens: int = MOST_TOKENS) -> None:
        be_quiet()
        llama_cpp.llama_backend_init()
        params = llama_cpp.llama_model_default_params()
        params.use_extra_bufts = not plain
        self._model = llama_cpp.llama_model_load_from_file(os.fsencode(path), params)
        if not self._model:
            raise ModelUnusable(f"llama.cpp cannot load {path}")
        self.tokens = min(tokens, int(llama_cpp.llama_model_n_ctx_train(self._model)))
        self._vocab = llama_cpp.llama_model_get_vocab(self._model)
        self._context = self._new_context(path)
        self._batch = llama_cpp.llama_batch_init(self.tokens, 0, 1)
        self.width = int(llama_cpp.llama_model_n_embd(self._model))

    def embed(self, text: str) -> bytes | None:
        """None when the model finds no direction in it."""
        tokens = self._tokenize(text)
        if not tokens:
            return None
        memory = llama_cpp.llama_get_memory(self._context)
        if memory:
            llama_cpp.llama_memory_clear(memory, True)
        self._fill(tokens)
        if code := llama_cpp.llama_decode(self._context, self._batch):
            raise EngineError(f"llama.cpp cannot read {len(tokens)} tokens ({code})")
        found = llama_cpp.llama_get_embeddings_seq(self._context, 0)
        return pack_or_none(found[: self.width]) if found else None

    def _fill(self, tokens: list[int]) -> None:
        batch = self._batch
        batch.n_tokens = len(tokens)
        for at, token in enumerate(tokens):
            batch.token[at], batch.pos[at] = token, at
            batch.n_seq_id[at], batch.logits[at] = 1, True
            batch.seq_id[at][0] = 0

    def _new_context(self, path: Path) -> object:
        params = llama_cpp.llama_context_default_params()
        # A model that reads both ways takes a text in one piece or not at all.
        params.n_ctx = params.n_batch = params.n_ubatch = self.tokens
        params.embeddings = True
        params.n_threads = params.n_threads_batch = 1
        context = llama_cpp.llama_init_from_model(self._model, params)
        if context and llama_cpp.llama_pooling_type(context) == NO_POOLING:
            llama_cpp.llama_free(context)
            params.pooling_type = MEAN_POOLING
            context = llama_cpp.llama_init_from_model(self._model, params)
        if not context:
            raise ModelUnusable(f"{path} is no model that embeds")
        return context

    def _tokenize(self, text: str) -> list[int]:
        """A text that is too long is cut, and ends as the model is used to."""
        data = text[:MOST_LETTERS].encode(errors="replace")
        buffer = (llama_cpp.llama_token * (len(data) + 8))()
        count = llama_cpp.llama_tokenize(self._vocab, data, len(data), buffer, len(buffer), True, False)
        tokens = list(buffer[: max(0, count)])
        return tokens if len(tokens) <= self.tokens else [*tokens[: self.tokens - 1], tokens[-1]]


def small_minilm(folder: Path, target: Path) -> None:
    """The default embedder as a small GGUF at `target`, made from the package's `folder`. Raises ModelUnusable."""
    be_quiet()
    target.parent.mkdir(parents=True, exist_ok=True)
    whole, small = target.with_suffix(f".{os.getpid()}.whole"), target.with_suffix(f".{os.getpid()}.new")
    try:
        minilm.translate(folder, whole)
        params = llama_cpp.llama_model_quantize_default_params()
        params.ftype, params.nthread = Q8_0, 1
        if llama_cpp.llama_model_quantize(os.fsencode(whole), os.fsencode(small), ctypes.byref(params)):
            raise ModelUnusable(f"llama.cpp cannot make {target} from {folder}")
        small.replace(target)
    finally:
        whole.unlink(missing_ok=True)
        small.unlink(missing_ok=True)


def _hear_nothing(level: int, text: bytes, data: object) -> None:
    """llama.cpp tells every tensor."""


_QUIET = llama_cpp.llama_log_callback(_hear_nothing)


def be_quiet() -> None:
    llama_cpp.llama_log_set(_QUIET, ctypes.c_void_p(0))

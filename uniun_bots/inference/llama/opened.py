"""A GGUF file as llama.cpp opened it, with what it said meanwhile. Lives in worker processes only."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

import llama_cpp

from uniun_bots.errors import ModelUnusable
from uniun_bots.inference.gguf import read_gguf
from uniun_bots.inference.llama.protocol import Load
from uniun_bots.inference.llama.room import free_bytes, refuse_beyond_memory

LOG_LEVEL_ERROR = 4
"""GGML_LOG_LEVEL_ERROR of ggml.h; the Python package does not name it."""


class Opened:
    def __init__(self, load: Load, *, vocabulary_only: bool = False) -> None:
        """The vocabulary alone takes some megabytes, whatever the model. Raises ModelUnusable."""
        self._log: list[str] = []
        self._log_callback = llama_cpp.llama_log_callback(self._note)
        llama_cpp.llama_log_set(self._log_callback, ctypes.c_void_p(0))
        llama_cpp.llama_backend_init()
        header = read_gguf(Path(load.path))
        if not (vocabulary_only or llama_cpp.llama_supports_gpu_offload()):
            refuse_beyond_memory(load.path, header, load.context_tokens, free_bytes())
        params = llama_cpp.llama_model_default_params()
        params.use_extra_bufts = not load.plain
        params.vocab_only = vocabulary_only
        self.context_tokens = min(load.context_tokens, header.number("context_length") or load.context_tokens)
        """What was asked for, unless the model was made for less."""
        self.model = llama_cpp.llama_model_load_from_file(os.fsencode(load.path), params)
        if not self.model:
            raise ModelUnusable(f"llama.cpp cannot load {load.path}{self.last_words()}")

    def last_words(self) -> str:
        return f": {' / '.join(self._log)}" if self._log else ""

    def forget_words(self) -> None:
        self._log.clear()

    def _note(self, level: int, text: bytes, data: object) -> None:
        if level == LOG_LEVEL_ERROR:
            self._log = [*self._log[-4:], text.decode(errors="replace").strip()]

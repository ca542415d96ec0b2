"""The documents, and the code blocks in them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
DOCS = ROOT / "docs"

_BLOCK = re.compile(r'^```(\w*)(?: title="([^"]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Block:
    page: str
    line: int
    language: str
    title: str
    text: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


def pages() -> list[Path]:
    top = [ROOT / name for name in ("README.md", "AGENTS.md", "CHANGELOG.md")]
    return [*top, *sorted(DOCS.rglob("*.md"))]


def read(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def blocks(*languages: str) -> list[Block]:
    return [block for page in pages() for block in _blocks_of(page) if block.language in languages]


def all_blocks() -> list[Block]:
    return [block for page in pages() for block in _blocks_of(page)]


def prose(page: Path) -> str:
    """Without the code blocks."""
    return _BLOCK.sub("", read(page))


def spans(page: Path) -> list[str]:
    """What stands between single backticks, outside the code blocks."""
    return re.findall(r"`([^`\n]+)`", prose(page))


def _blocks_of(page: Path) -> Iterator[Block]:
    text = read(page)
    for found in _BLOCK.finditer(text):
        line = text.count("\n", 0, found.start()) + 1
        yield Block(str(page.relative_to(ROOT)), line, found[1], found[2] or "", found[3])

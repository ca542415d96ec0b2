"""What a person who reads a rendered skill would not see: a model must not read it unseen."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

_OPEN, _CLOSE = "<!--", "-->"
_OPENS_A_LINE = re.compile(r"^[ ]{0,3}<!--", re.MULTILINE)
_TAG = re.compile(r"<[a-z][^<>]*>", re.IGNORECASE)
_HIDING = re.compile(r"\shidden(?=[\s=/>])|display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_FLAG = re.compile(
    "\U0001f3f4\U000e0067\U000e0062(?:\U000e0065\U000e006e\U000e0067|\U000e0073\U000e0063\U000e0074|"
    "\U000e0077\U000e006c\U000e0073)\U000e007f"
)
_INVISIBLE = re.compile(
    "(?P<tags>[\U000e0000-\U000e007f]+)"
    "|(?P<direction>[\u202a-\u202e\u2066-\u2069])"
    "|(?P<blank>[\u200b\u2060-\u2064\ufeff\u180e\u3164\uffa0\u115f\u1160])"
    "|(?P<selectors>[\ufe00-\ufe0f\U000e0100-\U000e01ef]{2,})"
    "|(?P<joiners>[\u200c-\u200f]{3,})"
    "|(?P<line>[\u2028\u2029])"
)
_TOLD = {
    "tags": "tag characters, which can carry a hidden text",
    "direction": "a character that changes the direction of writing",
    "blank": "an invisible character",
    "selectors": "a run of variation selectors, which can carry a hidden text",
    "joiners": "a run of joiners, which can carry a hidden text",
    "line": "a line end that few programs show as one",
}


def hidden_characters(text: str) -> Iterator[tuple[int, str]]:
    """Index and message of each. Joiners are letters' affair in many scripts, and flags of regions are flags."""
    if text.isascii():
        return
    flags = flag_spans(text)
    for match in _INVISIBLE.finditer(text):
        if not any(start <= match.start() and match.end() <= end for start, end in flags):
            what = _TOLD[match.lastgroup or ""]
            yield match.start(), f"{what} (U+{ord(match[0][0]):04X}): remove it"


def flag_spans(text: str) -> list[tuple[int, int]]:
    """Of England, Scotland and Wales, which are made of tag characters."""
    return [match.span() for match in _FLAG.finditer(text)]


def hidden_markup(text: str) -> Iterator[tuple[int, str]]:
    found = [match.start() for match in _TAG.finditer(text) if _HIDING.search(match[0])]
    code = _fences(text) if found else []
    for index in found:
        if not any(start <= index < end for start, end in code):
            yield index, "a hidden element: readers do not see it, so the model must not; remove it"


def without_comments(body: str) -> tuple[str, tuple[int, ...]]:
    """The body as the model gets it, and where something was taken out. Code fences stay as they are."""
    gone = comment_spans(body)
    if not gone:
        return body, ()
    kept = "".join(body[start:end] for start, end in _outside(gone, len(body)))
    return kept.strip(), tuple(start for start, _ in gone)


def comment_spans(body: str) -> list[tuple[int, int]]:
    """What is taken out: comments and remarks, in order and apart."""
    if _OPEN not in body and "]:" not in body:
        return []
    parts = [(start, body[start:end]) for start, end in _outside(_fences(body), len(body))]
    found = [(start + first, start + after) for start, part in parts for first, after in _comments(part)]
    return _merged([*found, *_remarks(body)])


def _comments(part: str) -> list[tuple[int, int]]:
    """Spans of HTML comments; one that opens a line and is never closed runs to the end, as readers have it."""
    found: list[tuple[int, int]] = []
    at = part.find(_OPEN)
    while at >= 0 and (close := part.find(_CLOSE, at + len(_OPEN))) >= 0:
        found.append((at, close + len(_CLOSE)))
        at = part.find(_OPEN, close)
    if at >= 0 and (opened := _OPENS_A_LINE.search(part, part.rfind("\n", 0, at) + 1)):
        found.append((opened.start(), len(part)))
    return found


def _remarks(body: str) -> list[tuple[int, int]]:
    """Definitions of links are shown nowhere. Those that lead nowhere, or have a title, carry words: `[//]: # (…)`."""
    if "]:" not in body:
        return []
    read: dict[str, Any] = {}
    _block_reader().parse(body, read)
    known = [*read.get("references", {}).values(), *read.get("duplicate_refs", ())]
    maps = [one["map"] for one in known if one["title"] or not one["href"] or one["href"].startswith("#")]
    lines = _line_starts(body)
    return [(lines[first], lines[min(after, len(lines) - 1)]) for first, after in maps]


def _merged(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _outside(spans: Iterable[tuple[int, int]], end: int) -> Iterator[tuple[int, int]]:
    """The spans between those that are given, which are in order and apart."""
    at = 0
    for start, after in spans:
        if at < start:
            yield at, start
        at = after
    if at < end:
        yield at, end


def _line_starts(text: str) -> list[int]:
    return [0, *(index + 1 for index, char in enumerate(text) if char == "\n"), len(text)]


def _fences(text: str) -> list[tuple[int, int]]:
    """Spans of the code fences, as a markdown reader finds them."""
    if "```" not in text and "~~~" not in text:
        return []
    lines = _line_starts(text)
    maps = [token.map for token in _block_reader().parse(text) if token.type == "fence" and token.map]
    return [(lines[first], lines[min(after, len(lines) - 1)]) for first, after in maps]


@cache
def _block_reader() -> MarkdownIt:
    """Paragraphs, lists, fences; what stands within a line is not looked at."""
    from markdown_it import MarkdownIt  # most skills have no fences, and most hosts never need it

    reader = MarkdownIt("commonmark")
    reader.core.ruler.enableOnly(["normalize", "block"])
    return reader

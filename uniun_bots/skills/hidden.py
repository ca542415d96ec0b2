"""What a person who reads a rendered skill would not see: a model must not read it unseen."""

from __future__ import annotations

import re
from collections.abc import Iterator

# A comment that opens a line and is never closed runs to the end of the document.
_COMMENT = re.compile(
    r"<!--.*?-->|^[ ]{0,3}<!--.*\Z|^[ ]{0,3}\[[^\]\n]*\]:[ \t]*<?#[^\n]*$", re.DOTALL | re.MULTILINE
)
_HIDING = re.compile(
    r"<[a-z][^<>]*?(?:\shidden(?=[\s=>/])|style\s*=[^<>]*?(?:display\s*:\s*none|visibility\s*:\s*hidden))[^<>]*>",
    re.IGNORECASE,
)
_FLAG = re.compile(
    "\U0001f3f4\U000e0067\U000e0062(?:\U000e0065\U000e006e\U000e0067|\U000e0073\U000e0063\U000e0074|"
    "\U000e0077\U000e006c\U000e0073)\U000e007f"
)
_INVISIBLE = re.compile(
    "(?P<tags>[\U000e0000-\U000e007f]+)"
    "|(?P<direction>[\u202a-\u202e\u2066-\u2069])"
    "|(?P<blank>[\u200b\u2060-\u2064\ufeff\u180e\u3164\uffa0\u115f\u1160])"
    "|(?P<selectors>[\ufe00-\ufe0f\U000e0100-\U000e01ef]{2,})"
    "|(?P<line>[\u2028\u2029])"
)
_TOLD = {
    "tags": "tag characters, which can carry a hidden text",
    "direction": "a character that changes the direction of writing",
    "blank": "an invisible character",
    "selectors": "a run of variation selectors, which can carry a hidden text",
    "line": "a line end that few programs show as one",
}


def hidden_characters(text: str) -> Iterator[tuple[int, str]]:
    """Index and message of each. Joiners are letters' affair in many scripts, and flags of regions are flags."""
    flags = [match.span() for match in _FLAG.finditer(text)]
    for match in _INVISIBLE.finditer(text):
        if not any(start <= match.start() and match.end() <= end for start, end in flags):
            yield (
                match.start(),
                f"{_TOLD[match.lastgroup or '']} stands here (U+{ord(match[0][0]):04X}): remove it",
            )


def hidden_markup(text: str) -> Iterator[tuple[int, str]]:
    for match in _HIDING.finditer(text):
        if not any(start <= match.start() < end for start, end in _fences(text)):
            yield match.start(), "a hidden element: readers do not see it, so the model must not; remove it"


def without_comments(body: str) -> tuple[str, tuple[int, ...]]:
    """The body as the model gets it, and where something was taken out. Code fences stay as they are."""
    kept: list[str] = []
    removed: list[int] = []
    for start, end, is_code in _parts(body):
        part = body[start:end]
        if not is_code:
            removed += [start + match.start() for match in _COMMENT.finditer(part)]
            part = _COMMENT.sub("", part)
        kept.append(part)
    return ("".join(kept).strip() if removed else body), tuple(removed)


def _parts(body: str) -> Iterator[tuple[int, int, bool]]:
    at = 0
    for start, end in _fences(body):
        if at < start:
            yield at, start, False
        yield start, end, True
        at = end
    yield at, len(body), False


def _fences(text: str) -> list[tuple[int, int]]:
    """Spans of the code fences, as a markdown reader finds them."""
    if "```" not in text and "~~~" not in text:
        return []
    from markdown_it import MarkdownIt  # most skills have no fences, and most hosts never need it

    lines = [0, *(index + 1 for index, char in enumerate(text) if char == "\n"), len(text)]
    maps = [
        token.map for token in MarkdownIt("commonmark").parse(text) if token.type == "fence" and token.map
    ]
    return [(lines[first], lines[min(after, len(lines) - 1)]) for first, after in maps]

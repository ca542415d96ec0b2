"""Where the frontmatter of a markdown file begins and ends: the one rule for every reader of such files."""

from __future__ import annotations

from dataclasses import dataclass

from uniun_bots.personas.sheet import Place

FIRST_LINE = 2
"""Line of the file in which the YAML begins."""


@dataclass(frozen=True, slots=True)
class Frontmatter:
    yaml: str
    body: str
    body_place: Place


def split_frontmatter(text: str, body_is: str = "task") -> Frontmatter:
    """`text` has `\\n` line ends; a fence is a line that is `---`, no more. Raises ValueError for people."""
    if not text.strip():
        raise ValueError(
            f"the file is empty: write the frontmatter between two lines `---`, then the {body_is}"
        )
    lines = text.split("\n")
    if not _is_fence(lines[0]):
        raise ValueError("no frontmatter: the first line must be `---`")
    for number, line in enumerate(lines[1:], start=1):
        if _is_fence(line):
            body = "\n".join(lines[number + 1 :]).strip()
            # Without a body the fence itself is the place.
            return Frontmatter("\n".join(lines[1:number]), body, Place(number + 2 if body else number + 1, 1))
    raise ValueError("the frontmatter is not closed: write a line `---` after its last key")


def _is_fence(line: str) -> bool:
    return line.rstrip(" \t") == "---"

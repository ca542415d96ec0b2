"""What a person sees before anything is written: the whole text, warnings with their lines, and the hash."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rich.cells import chop_cells

from uniun_bots.errors import BadEvent
from uniun_bots.sharing.look_alikes import marked_name
from uniun_bots.sharing.visible import visible_file, visible_line
from uniun_bots.sharing.warnings import Warned, warnings_in
from uniun_bots.skills.lookalikes import similar_names

_GUTTER = " │ "
_GOES_ON = " ┆ "
_NARROWEST = 40


@dataclass(frozen=True, slots=True)
class Preview:
    what: str
    """Such as "skill" or "persona template"."""
    name: str
    """On one line, with letters marked that pass for others."""
    text: str
    """All of it, with everything that hides made visible; only `\\n` ends a line."""
    warnings: tuple[Warned, ...]
    similar: tuple[str, ...]
    """Names known here that a reader could take this one for."""
    hash: str
    """SHA-256 of the bytes, in hex: of exactly what a yes is about."""
    size_bytes: int

    @property
    def spelled_hash(self) -> str:
        """As `--accept` takes it."""
        return f"sha256:{self.hash}"


def preview(content: str, name: str, *, what: str = "skill", known: Iterable[str] = ()) -> Preview:
    """`content` with `\\n` line ends. Raises BadEvent for what has no UTF-8 form."""
    raw = _bytes_of(content)
    return Preview(
        what=what,
        name=marked_name(name),
        text=visible_file(content),
        warnings=warnings_in(content),
        similar=tuple(visible_line(other) for _, other in similar_names([name], known)),
        hash=hashlib.sha256(raw).hexdigest(),
        size_bytes=len(raw),
    )


def lines_of(shown: Preview, columns: int | None = None) -> Iterator[str]:
    """What is printed. Each line of the text has its number before it, so that no line of it can pass for ours.

    `columns`: of a terminal, which would begin what is longer without a number; None breaks no line.
    """
    yield f"{shown.what} {shown.name}, {shown.size_bytes} bytes"
    yield ""
    yield from _numbered(shown.text, columns)
    yield ""
    yield from _warning_lines(shown)
    yield f"hash: {shown.spelled_hash}"


def warnings_told(shown: Preview) -> list[str]:
    told = [f"the name looks like {other}, which is here already" for other in shown.similar]
    return told + [str(one) for one in shown.warnings]


def _warning_lines(shown: Preview) -> Iterator[str]:
    told = warnings_told(shown)
    yield f"{len(told)} {'warning' if len(told) == 1 else 'warnings'}{':' if told else ''}"
    yield from (f"  {one}" for one in told)


def _numbered(text: str, columns: int | None) -> Iterator[str]:
    lines = text.split("\n")
    width = len(str(len(lines)))
    room = max(columns - width - len(_GUTTER), _NARROWEST) if columns else None
    for number, line in enumerate(lines, start=1):
        # A tab is as wide as the terminal likes.
        pieces = chop_cells(line.expandtabs(4), room) if room else [line]
        yield f"{number:>{width}}{_GUTTER}{pieces[0] if pieces else ''}".rstrip()
        yield from (f"{'':>{width}}{_GOES_ON}{piece}" for piece in pieces[1:])


def _bytes_of(content: str) -> bytes:
    try:
        return content.encode()
    except UnicodeEncodeError:
        raise BadEvent("half a surrogate pair in the text: it has no UTF-8 form and so no hash") from None

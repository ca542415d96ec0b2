"""Note handles that a model put into its text."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

# `[n1]`, `(n1)`, `[n1, n2]`, and the whole label of a quote, which small models copy.
_HANDLES = re.compile(r"\s*(?:\[n\d+(?:,[^\])\n]{0,80})?\]|\(n\d+(?:,[^\])\n]{0,80})?\))")
# The label of a quote, at the end of a line.
_LABEL = re.compile(r"\s*[\[(]n\d+,(?!\s*n\d)[^\])\n]{0,80}[\])][ \t]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Cited:
    text: str
    """Without the handles: they mean nothing to a reader."""
    note_ids: tuple[str, ...]
    unknown: tuple[str, ...]
    """Handles that the model was not shown."""


def handles_in(text: str) -> tuple[str, ...]:
    return tuple(handle for part in _HANDLES.findall(text) for handle in re.findall(r"n\d+", part))


def take_citations(text: str, handles: Mapping[str, str]) -> Cited:
    text = _first_quote(text)
    found = handles_in(text)
    known = dict.fromkeys(handles[handle] for handle in found if handle in handles)
    unknown = dict.fromkeys(handle for handle in found if handle not in handles)
    return Cited(_HANDLES.sub("", text).strip() if found else text, tuple(known), tuple(unknown))


def _first_quote(text: str) -> str:
    """A small model may go on with the notes that it read, quoted and labelled: then only the first is its answer."""
    start, label = 0, _LABEL.search(text)
    if label is None:
        return text
    if not text[: label.start()].strip():
        start, label = label.end(), _LABEL.search(text, label.end())
    return text[start : label.end() if label else None].strip()


@dataclass(frozen=True, slots=True)
class Supported:
    text: str
    """With the handles that were shown, as `[n1]` or `[n1, n2]`, and without all others."""
    handles: tuple[str, ...]
    """Of the text, in the order in which they stand there first."""
    unknown: tuple[str, ...]


def keep_shown(text: str, shown: Collection[str]) -> Supported:
    """For a reader who can open them: what stands behind a handle that the model was not shown is nothing."""

    def spelled(found: re.Match[str]) -> str:
        space = found[0][: len(found[0]) - len(found[0].lstrip())]
        known = dict.fromkeys(one for one in re.findall(r"n\d+", found[0]) if one in shown)
        return f"{space}[{', '.join(known)}]" if known else ""

    found = dict.fromkeys(handles_in(text))
    return Supported(
        _HANDLES.sub(spelled, text).strip() if found else text,
        tuple(one for one in found if one in shown),
        tuple(one for one in found if one not in shown),
    )

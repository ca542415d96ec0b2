"""Note handles that a model put into its text."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

# `[n1]`, `(n1)`, `[n1, n2]`, and the whole label of a quote, which small models copy.
_HANDLES = re.compile(r"\s*(?:\[n\d+(?:,[^\])\n]{0,80})?\]|\(n\d+(?:,[^\])\n]{0,80})?\))")


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
    found = handles_in(text)
    known = dict.fromkeys(handles[handle] for handle in found if handle in handles)
    unknown = dict.fromkeys(handle for handle in found if handle not in handles)
    return Cited(_HANDLES.sub("", text).strip() if found else text, tuple(known), tuple(unknown))


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

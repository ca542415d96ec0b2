"""Note handles that a model put into its text."""

from __future__ import annotations

import re
from collections.abc import Mapping
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

"""What a YAML file says, still as text, with the place of every value."""

from __future__ import annotations

from dataclasses import dataclass

from uniun_bots.errors import Fault
from uniun_bots.personas.shown import shown

Loc = tuple[str | int, ...]
"""Way from the top to a value: keys, and positions in lists from 0."""


@dataclass(frozen=True, slots=True)
class Place:
    """Counted from 1, in the file as an editor shows it."""

    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Sheet:
    file: str
    tree: dict[str, object]
    """Mappings, lists and text; text without quotes is `Bare`."""
    values: dict[Loc, Place]
    keys: dict[Loc, Place]
    faults: tuple[Fault, ...]
    spoiled: frozenset[Loc]
    """Values left out of the tree because a fault already tells about them."""
    readable: bool
    """False: the tree is not what the file says, and nothing more can be learnt from it."""

    def place(self, loc: Loc) -> Place:
        """Of the value, or of the nearest thing around it."""
        while loc not in self.values and loc:
            loc = loc[:-1]
        return self.values.get(loc, Place(1, 1))

    def fault(self, loc: Loc, message: str, at_key: bool = False) -> Fault:
        place = self.keys.get(loc) if at_key else None
        place = place or self.place(loc)
        return Fault(self.file, place.line, place.column, message)


def dotted(loc: Loc) -> str:
    """Such as "`input.allow` entry 2"."""
    parts: list[str] = []
    for step in loc:
        if isinstance(step, int):
            parts.append(f"entry {step + 1}")
        elif parts and parts[-1].startswith("`"):
            parts[-1] = f"{parts[-1][:-1]}.{shown(step)[1:]}"
        else:
            parts.append(shown(step))
    return " ".join(parts)

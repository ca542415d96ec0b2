"""What a YAML file says, still as text, with the place of every value."""

from __future__ import annotations

from dataclasses import dataclass

from uniun_bots.errors import Fault

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

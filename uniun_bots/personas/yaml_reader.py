"""The strict YAML reader: mappings, lists and text, nothing else, and every fault with its place.

It builds from parser events: no value is ever constructed, so anchors cannot multiply, tags cannot run, and
nothing turns into a number, a date or a boolean before a schema asks for one.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import yaml

from uniun_bots.errors import Fault
from uniun_bots.personas.scalars import Bare
from uniun_bots.personas.sheet import Loc, Place, Sheet, dotted

DEEPEST = 16
MOST_VALUES = 20_000
LONGEST_CHARS = 65_536

FAST: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""libyaml is several times as fast, but says less about what it cannot read: that is read again to explain it."""

_EMPTY = ("", "~", "null", "Null", "NULL")
# What PyYAML says, and what it means to somebody who writes a persona file.
_MEANINGS = (
    ("mapping values are not allowed", "a second `: ` in one line: put the text in quotes"),
    ("'\\t' that cannot start any token", "a tab cannot indent: use spaces"),
    ("that cannot start any token", "this character cannot begin a value: put the text in quotes"),
    ("could not find expected ':'", "expected `key: value`"),
    (
        "expected <block end>",
        "this line does not fit its neighbours: look at the indentation and at open quotes",
    ),
    ("did not find expected <document start>", "only one document may stand in the file"),
    ("unexpected end of stream", "a quote is opened and not closed"),
    ("expected ',' or ']'", "a `[` is opened and not closed"),
    ("expected ',' or '}'", "a `{` is opened and not closed"),
    ("unknown escape character", "unknown `\\` escape: use single quotes for text with backslashes"),
    ("special characters are not allowed", "control characters are not allowed"),
)
_MEANT_WHERE_IT_BEGAN = ("could not find expected ':'", "unexpected end of stream", "expected ',' or")


class _Stop(Exception):
    """The rest of the file cannot be read; the fault is noted."""


def read_yaml(text: str, file: str, first_line: int = 1) -> Sheet:
    """Read one mapping. `text` has `\\n` line ends; `first_line` is where it stands in the file."""
    if len(text) > LONGEST_CHARS:
        told = f"too large: {len(text)} characters of YAML, at most {LONGEST_CHARS} are read"
        return Sheet(file, {}, {}, {}, (Fault(file, first_line, 1, told),), frozenset(), readable=False)
    if FAST is not yaml.SafeLoader:
        with suppress(yaml.YAMLError):
            return _read(text, _Reader(file, first_line, _line_starts(text)), FAST)
    reader = _Reader(file, first_line, _line_starts(text))
    try:
        return _read(text, reader, yaml.SafeLoader)
    except yaml.YAMLError as error:
        reader.fault(*_explained(error))
        return reader.sheet({}, readable=False)


def _read(text: str, reader: _Reader, loader: Any) -> Sheet:
    try:
        return reader.sheet(reader.document(yaml.parse(text, Loader=loader)), readable=True)
    except _Stop:
        return reader.sheet({}, readable=False)


@dataclass(slots=True)
class _Reader:
    file: str
    first_line: int
    line_starts: list[int]
    faults: list[Fault] = field(default_factory=list)
    values: dict[Loc, Place] = field(default_factory=dict)
    keys: dict[Loc, Place] = field(default_factory=dict)
    spoiled: set[Loc] = field(default_factory=set)
    events: Iterator[yaml.Event] = field(default_factory=lambda: iter(()))

    def sheet(self, tree: dict[str, object], readable: bool) -> Sheet:
        return Sheet(
            self.file, tree, self.values, self.keys, tuple(self.faults), frozenset(self.spoiled), readable
        )

    def place(self, index: int) -> Place:
        line = bisect_right(self.line_starts, index) - 1
        return Place(self.first_line + line, index - self.line_starts[line] + 1)

    def fault(self, index: int, message: str) -> None:
        place = self.place(index)
        self.faults.append(Fault(self.file, place.line, place.column, message))

    def document(self, events: Iterator[yaml.Event]) -> dict[str, object]:
        self.events = events
        next(self.events)
        start = next(self.events)
        if isinstance(start, yaml.StreamEndEvent):
            self.values[()] = self.place(0)
            return {}
        if isinstance(start, yaml.DocumentStartEvent) and (start.version or start.tags):
            self.fault(_index(start), "`%` directives are not used here: remove the line")
        found = self.value((), next(self.events))
        next(self.events)
        if isinstance(extra := next(self.events), yaml.DocumentStartEvent):
            self.fault(_index(extra), "only one document may stand in the file: remove this `---`")
            raise _Stop
        if isinstance(found, dict):
            return found
        if () not in self.spoiled:
            self.fault(0, f"must be a mapping (lines of `key: value`), not {_kind(found)}")
        raise _Stop

    def value(self, loc: Loc, event: yaml.Event) -> object:
        """The value that begins with `event`; None when a fault was noted in its place."""
        index = _index(event)
        self.values[loc] = self.place(index)
        if len(loc) > DEEPEST or len(self.values) > MOST_VALUES:
            self.fault(index, "too deeply nested" if len(loc) > DEEPEST else "too many values")
            raise _Stop
        self._refuse_decorations(event)
        match event:
            case yaml.MappingStartEvent():
                return self._mapping(loc)
            case yaml.SequenceStartEvent():
                return self._sequence(loc)
            case yaml.ScalarEvent() if not event.style and event.value in _EMPTY:
                self._spoil(
                    loc, index, f"{dotted(loc) or 'the file'} has no value: write one, or remove the line"
                )
            case yaml.ScalarEvent():
                return Bare(event.value) if not event.style else str(event.value)
            case _:
                self._spoil(loc, index, "aliases (`*name`) are not used here: write the value out")
        return None

    def _mapping(self, loc: Loc) -> dict[str, object]:
        found: dict[str, object] = {}
        while not isinstance(event := next(self.events), yaml.MappingEndEvent):
            key = self._key(loc, event)
            if key is None:
                self.value((*loc, "?"), next(self.events))
            elif key in found or (*loc, key) in self.spoiled:
                self._duplicate((*loc, key), _index(event))
            else:
                self.keys[(*loc, key)] = self.place(_index(event))
                value = self.value((*loc, key), next(self.events))
                if value is not None:
                    found[key] = value
        return found

    def _key(self, loc: Loc, event: yaml.Event) -> str | None:
        self._refuse_decorations(event)
        if isinstance(event, yaml.ScalarEvent) and event.value:
            return str(event.value)
        self.fault(_index(event), f"a key must be a word{'' if not loc else ' in ' + dotted(loc)}")
        if isinstance(event, yaml.CollectionStartEvent):
            self.value((*loc, "?"), event)
        return None

    def _duplicate(self, loc: Loc, index: int) -> None:
        first, again = self.keys[loc].line, self.place(index).line
        self.fault(index, f"{dotted(loc)} stands twice, in lines {first} and {again}: keep one")
        self.value((*loc[:-1], "?"), next(self.events))

    def _sequence(self, loc: Loc) -> list[object]:
        found: list[object] = []
        while not isinstance(event := next(self.events), yaml.SequenceEndEvent):
            value = self.value((*loc, len(found)), event)
            # A place for what was told already keeps the positions of the entries after it.
            found.append(Bare("") if value is None else value)
        return found

    def _refuse_decorations(self, event: yaml.Event) -> None:
        index = _index(event)
        if isinstance(event, yaml.NodeEvent) and event.anchor and not isinstance(event, yaml.AliasEvent):
            self.fault(index, "anchors (`&name`) are not used here: remove it")
        if getattr(event, "tag", None):
            self.fault(index, "tags (`!name`) are not used here: put text that begins with `!` in quotes")

    def _spoil(self, loc: Loc, index: int, message: str) -> None:
        self.fault(index, message)
        self.spoiled.add(loc)


def _index(event: yaml.Event) -> int:
    return event.start_mark.index if event.start_mark else 0


def _explained(error: yaml.YAMLError) -> tuple[int, str]:
    if isinstance(error, yaml.reader.ReaderError):
        return error.position, "control characters are not allowed"
    if not isinstance(error, yaml.MarkedYAMLError):
        return 0, "not readable as YAML"
    problem = error.problem or ""
    mark = error.problem_mark or error.context_mark
    if error.context_mark and any(part in problem for part in _MEANT_WHERE_IT_BEGAN):
        mark = error.context_mark
    told = next(
        (meaning for part, meaning in _MEANINGS if part in problem), f"not readable as YAML: {problem}"
    )
    return (mark.index if mark else 0), told


def _named(loc: Loc) -> str:
    return dotted(loc) or "the file"


def _kind(value: object) -> str:
    return "a list" if isinstance(value, list) else "text"


def _line_starts(text: str) -> list[int]:
    return [0, *(index + 1 for index, char in enumerate(text) if char == "\n")]

"""Read one skill file: the one reader for loading, checking, previewing and running.

What a skill is, its place decides. A file that asks for more is refused and told why; a key that means nothing here
is told and passed over, because skills of other programs have many of them.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Container, Iterator
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path

from uniun_bots.errors import Fault
from uniun_bots.personas.frontmatter import FIRST_LINE, Frontmatter, split_frontmatter
from uniun_bots.personas.reading import Schema, read_model, with_clashes
from uniun_bots.personas.scalars import did_you_mean
from uniun_bots.personas.sheet import Loc, Sheet
from uniun_bots.personas.shown import shown
from uniun_bots.personas.text_file import TextFile, fault_at, read_text, read_text_file
from uniun_bots.personas.yaml_reader import read_yaml
from uniun_bots.skills.hidden import hidden_characters, hidden_markup, without_comments
from uniun_bots.skills.lookalikes import mixed_words
from uniun_bots.skills.skill import Skill, SkillFile, Source

KEYS = ("name", "description", "license", "compatibility", "metadata")
_MISSING = {
    "name": "write `name: tide-table`, as the file is called",
    "description": "write in one or two sentences when to use the skill",
    "body": "write the instructions below the closing `---`",
}
_STAND_INS: dict[str, object] = {"name": "a", "description": "-", "body": "-"}

_RIGHTS = "a skill is text that the model may read and has no rights of its own: remove the key"
_RUNS = "nothing in a skill is ever run: remove the key, and write into the text what the model is to know"
# By spelling without case, `-`, `_` and the like.
_REFUSED = {
    **dict.fromkeys(("allowedtools", "tools", "tool", "permissions", "capabilities", "rights"), _RIGHTS),
    **dict.fromkeys(
        (
            *("script", "scripts", "command", "commands", "run", "exec", "executor", "execute", "entrypoint"),
            *(
                "entry",
                "main",
                "runtime",
                "code",
                "javascript",
                "js",
                "mcp",
                "mcpserver",
                "mcpservers",
                "hooks",
            ),
            *("hook", "intent", "native", "install", "shell", "binary"),
        ),
        _RUNS,
    ),
}
_TYPE = "type"


@dataclass(frozen=True, slots=True)
class Read:
    skill: Skill | None
    """None when there are faults."""
    faults: tuple[Fault, ...]
    warnings: tuple[Fault, ...] = ()
    refused: tuple[Fault, ...] = ()
    """Those of the faults that say: it asks for more than to be read."""


def read_skill_file(path: Path, source: Source) -> Read:
    return _read(read_text_file(path), path, source)


def read_skill_bytes(raw: bytes, path: Path, source: Source) -> Read:
    """What the file would be with these bytes."""
    return _read(read_text(str(path), raw), path, source)


def _read(found: TextFile, path: Path, source: Source) -> Read:
    if found.text is None:
        return Read(None, found.faults)
    read = read_skill(found.text, str(path), source, found.faults)
    if read.skill is not None and path.stem != read.skill.name:
        told = f"the file of the skill {shown(read.skill.name)} must be called {read.skill.name}.md"
        return Read(None, (*read.faults, Fault(str(path), 1, 1, told)), read.warnings)
    return read


def read_skill(text: str, file: str, source: Source, before: tuple[Fault, ...] = ()) -> Read:
    """`text` has `\\n` line ends and no byte order mark; `file` is how it is told to people."""
    try:
        parts = split_frontmatter(text, "instructions")
    except ValueError as error:
        return Read(None, (*before, fault_at(file, text, 0, str(error))))
    sheet = read_yaml(parts.yaml, file, FIRST_LINE)
    sheet.values["body",] = parts.body_place
    known = {key: value for key, value in sheet.tree.items() if key in KEYS}
    reading = read_model(_schema(parts), replace(sheet, tree=known))
    faults = with_clashes(reading, sheet, [], before).faults
    refused = dict(_refused(sheet)) if sheet.readable else {}
    if sheet.readable:
        faults += (*refused.values(), *_hidden(file, text))
    warnings = (*_unknown(sheet, refused), *_mixed(sheet), *_removed(file, text, parts))
    if faults or reading.value is None:
        return Read(None, tuple(dict.fromkeys(faults)), warnings, tuple(refused.values()))
    return Read(Skill(reading.value, file, source, without_comments(parts.body)[0]), (), warnings)


def _schema(parts: Frontmatter) -> Schema[SkillFile]:
    return Schema(
        model=SkillFile,
        given={"body": parts.body} if parts.body else {},
        stand_ins=_STAND_INS,
        missing=_MISSING,
        unwritable={"body": ": the instructions stand below the closing `---`"},
    )


def _spelling(key: str) -> str:
    plain = unicodedata.normalize("NFKC", key).lower()
    return "".join(char for char in plain if char.isalnum())


def _refused(sheet: Sheet) -> Iterator[tuple[Loc, Fault]]:
    """What asks for more than text, at the top or in `metadata`, in every spelling; and where it stands."""
    metadata = sheet.tree.get("metadata")
    inner = metadata if isinstance(metadata, dict) else {}
    places: list[tuple[Loc, object]] = [((key,), value) for key, value in sheet.tree.items()]
    places += [(("metadata", key), value) for key, value in inner.items()]
    for loc, value in places:
        spelling = _spelling(str(loc[-1]))
        if spelling == _TYPE and not _says_text(value):
            told = "a skill is text here, never JavaScript, MCP, an intent or native code: remove the key"
            yield loc, sheet.fault(loc, f"{shown(loc[-1])} asks for {shown(value)}: {told}", at_key=True)
        elif loc[-1] == "<<":
            told = "a merge key brings in keys that are not seen here: write them out"
            yield loc, sheet.fault(loc, f"{shown(loc[-1])} is refused: {told}", at_key=True)
        elif spelling in _REFUSED:
            yield loc, sheet.fault(loc, f"{shown(loc[-1])} is refused: {_REFUSED[spelling]}", at_key=True)


def _says_text(value: object) -> bool:
    return isinstance(value, str) and value.strip().lower() == "text"


def _unknown(sheet: Sheet, refused: Container[Loc]) -> Iterator[Fault]:
    for key in sheet.tree:
        if key not in KEYS and (key,) not in refused:
            close = did_you_mean(get_close_matches(key[:80], KEYS, 1, 0.6))
            yield sheet.fault((key,), f"unknown key {shown(key)}{close}: it does nothing here", at_key=True)


def _mixed(sheet: Sheet) -> Iterator[Fault]:
    """A description may be in any script."""
    for word in mixed_words(str(sheet.tree.get("description", "")))[:1]:
        told = f"{shown(word)} mixes letters of several scripts that look alike"
        yield sheet.fault(("description",), told)


def _hidden(file: str, text: str) -> Iterator[Fault]:
    for index, what in (*hidden_characters(text), *hidden_markup(text)):
        yield fault_at(file, text, index, what)


def _removed(file: str, text: str, parts: Frontmatter) -> Iterator[Fault]:
    begins = text.find(parts.body, text.find("\n")) if parts.body else 0
    for index in without_comments(parts.body)[1]:
        told = "a comment that a reader does not see: it is not shown to the model either"
        yield fault_at(file, text, begins + index, told)

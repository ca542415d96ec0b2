"""Read one persona file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from uniun_bots.errors import Fault
from uniun_bots.personas.coherence import clashes_in
from uniun_bots.personas.frontmatter import FIRST_LINE, split_frontmatter
from uniun_bots.personas.gana import Gana
from uniun_bots.personas.names import name_fault
from uniun_bots.personas.reading import Reading, Schema, read_model, with_clashes
from uniun_bots.personas.sheet import Sheet
from uniun_bots.personas.text_file import fault_at, read_text_file
from uniun_bots.personas.yaml_reader import read_yaml

_STAND_INS: dict[str, object] = {
    "name": "-",
    "identity": "env:X",
    "output": {"type": "feed"},
    "trigger": "once-on-enable",
    "task": "-",
}
_MISSING = {
    "name": "write `name: Tide Teller`",
    "identity": "write `identity: env:TIDE_NSEC`, or key:NAME after `uniun-bots keys new NAME`",
    "output": "write `output: {type: feed}`, or `{type: group, ref: same, reply: true}`",
    "trigger": "write `trigger: every-message` or `trigger: on-schedule`",
    "type": "say which kind it is",
}
_UNWRITABLE = {"id": ": the file's name is the id", "file": ""}
_TASK_IS_BODY = {"task": ": in a .md file the task stands below the closing `---`"}
_MISSING_TASK = {
    True: "write below the closing `---` what the persona is to do",
    False: "write `task: |` and below it, indented, what the persona is to do",
}


def load_gana(path: Path) -> tuple[Reading[Gana], Sheet | None]:
    """The sheet tells places to whoever looks for more faults; without one the file is not readable."""
    wrong_name = name_fault(path)
    source = read_text_file(path)
    faults = source.faults
    if wrong_name:
        faults = (Fault(str(path), 1, 1, wrong_name), *faults)
    if source.text is None:
        return Reading(None, faults, frozenset()), None
    markdown = path.suffix.lower() == ".md"
    given: dict[str, object] = {"id": path.stem, "file": str(path)}
    sheet = _markdown_sheet(path, source.text, given) if markdown else read_yaml(source.text, str(path))
    reading = read_model(_schema(given, markdown), sheet)
    clashes = clashes_in(reading.value) if reading.value else []
    return with_clashes(reading, sheet, clashes, faults), sheet


def _schema(given: dict[str, object], markdown: bool) -> Schema[Gana]:
    return Schema(
        model=Gana,
        given=given,
        stand_ins=_STAND_INS,
        missing=_MISSING | {"task": _MISSING_TASK[markdown]},
        unwritable=_UNWRITABLE | (_TASK_IS_BODY if markdown else {}),
    )


def _markdown_sheet(path: Path, text: str, given: dict[str, Any]) -> Sheet:
    """The sheet of the frontmatter, with the body given as `task`."""
    try:
        parts = split_frontmatter(text)
    except ValueError as error:
        return Sheet(str(path), {}, {}, {}, (fault_at(str(path), text, 0, str(error)),), frozenset(), False)
    sheet = read_yaml(parts.yaml, str(path), FIRST_LINE)
    if parts.body:
        given["task"] = parts.body
    sheet.values[("task",)] = parts.body_place
    return sheet

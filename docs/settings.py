"""The settings as a page, from the pydantic models."""

from __future__ import annotations

import ast
import inspect
import textwrap
import types
import typing
from collections.abc import Iterator
from enum import StrEnum
from typing import Annotated, Any, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from uniun_bots.personas.gana import Gana, Input, Limits, Output, Profile
from uniun_bots.personas.manas import Manas, Named
from uniun_bots.personas.relay_set import RelayAddress, RelaySet
from uniun_bots.personas.scalars import Form
from uniun_bots.personas.settings import DefaultLimits, Defaults, EngineSettings, HostSettings, ProbeSettings
from uniun_bots.relays.fault_script import FaultScript, Step
from uniun_bots.skills.skill import SkillFile

INTRO = """\
# Settings

<!-- Written by docs/generate.py: change the model, then run `make docs`. -->

Everything that may stand in a file of a project folder. Unknown keys, duplicate keys, anchors, aliases and tags
are refused, with the line and what to write instead: `uniun-bots check` tells all faults of all files at once.
A duration is a number with a unit: `500ms`, `30s`, `10m`, `2h`, `1d`, `1w`. What a version does not do yet is
refused with a sentence that says so; [known limits](../known-limits.md) lists it.
"""

SECTIONS: tuple[tuple[str, type[BaseModel], str], ...] = (
    (
        "Persona file",
        Gana,
        "`personas/NAME.md`: these keys between two lines of `---`, and below them the task.\n"
        "`personas/NAME.yaml` is the same with the task under `task:`. NAME is the Gana's id:\n"
        "1 to 64 of `a-z`, `0-9` and `-`.",
    ),
    ("Persona file: `input`", Input, "What wakes the Gana. Without it, only a timer does."),
    ("Persona file: `output`", Output, "What it publishes."),
    ("Persona file: `limits`", Limits, ""),
    ("Persona file: `profile`", Profile, ""),
    (
        "Manas",
        Manas,
        "`manas/NAME.yaml`: what a Gana may read as knowledge. [Knowledge](../knowledge.md) has examples.",
    ),
    ("Manas: `exclude`", Named, "The same keys, for what is never a member."),
    ("Relay set", RelaySet, "`relays/NAME.yaml`."),
    (
        "Relay set: one of `relays`",
        RelayAddress,
        "A lone address is the same as `url:` with everything else at its default.",
    ),
    ("Host", HostSettings, "`host.yaml`. Every key is optional, and so is the file."),
    ("Host: one of `engines`", EngineSettings, "Under `engines:`, by a name of your choice."),
    ("Host: `defaults`", Defaults, "The keys mean what they mean in a persona file."),
    ("Host: `defaults.limits`", DefaultLimits, ""),
    ("Host: `probe`", ProbeSettings, "[Models](../models.md#how-reliable) explains the score."),
    (
        "Skill file",
        SkillFile,
        "`skills/NAME.md`: these keys between two lines of `---`, and below them the instructions. Other keys do\n"
        "nothing, or are refused: [skills](../skills.md) tells which.",
    ),
    (
        "Fault script",
        FaultScript,
        "For `uniun-bots relay --faults`; [relay faults](../relay-faults.md) has examples.",
    ),
    ("Fault script: one of `steps`", Step, "Each step replaces the one before it."),
)
# Not written by anybody: from the file's name, or worked out.
_NOT_KEYS = {
    Gana: {"id", "file"},
    Output: {"same"},
    Manas: {"name", "file"},
    RelaySet: {"name"},
    SkillFile: {"body"},
}
_LINKS = {model: title for title, model, _ in SECTIONS}
_UNITS = (("w", 604_800), ("d", 86_400), ("h", 3600), ("m", 60), ("s", 1))


def config_page() -> str:
    return "\n".join([INTRO, *map(_section, SECTIONS)]).rstrip() + "\n"


def keys_of(model: type[BaseModel]) -> dict[str, FieldInfo]:
    """As they are written in files."""
    hidden = _NOT_KEYS.get(model, set())
    return {
        str(field.validation_alias or name): field
        for name, field in model.model_fields.items()
        if name not in hidden
    }


def default_of(field: FieldInfo) -> str:
    """In the words of a file."""
    if field.is_required():
        return "**required**"
    value = field.default
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, StrEnum | str):
        return f"`{value}`"
    if isinstance(value, int | float):
        return f"`{_duration(value) if _is_duration(field) else format(value, 'g')}`"
    return ""


def _section(section: tuple[str, type[BaseModel], str]) -> str:
    title, model, intro = section
    told = docstrings(model)
    says = [text for text in (intro, inspect.cleandoc(model.__dict__.get("__doc__") or "")) if text]
    rows = ["| key | value | default | what it does |", "|---|---|---|---|"]
    names = {str(field.validation_alias or name): name for name, field in model.model_fields.items()}
    for key, field in keys_of(model).items():
        text = " ".join(told.get(names[key], "").split())
        rows.append(
            f"| `{key}` | {_words(field.annotation, field.metadata)} | {default_of(field)} | {text} |"
        )
    return "\n\n".join([f"## {title}", *says, "\n".join(rows)]) + "\n"


def docstrings(model: type[BaseModel]) -> dict[str, str]:
    """Field to the text below it, those of parent models included."""
    found: dict[str, str] = {}
    for parent in reversed(model.__mro__):
        if issubclass(parent, BaseModel) and parent is not BaseModel:
            found |= dict(_own_docstrings(parent))
    return found


def _own_docstrings(model: type[BaseModel]) -> Iterator[tuple[str, str]]:
    parsed = ast.parse(textwrap.dedent(inspect.getsource(model))).body[0]
    body = parsed.body if isinstance(parsed, ast.ClassDef) else []
    for field, below in zip(body, body[1:], strict=False):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
            match below:
                case ast.Expr(value=ast.Constant(value=str(text))):
                    yield field.target.id, text


def _words(annotation: Any, metadata: list[Any]) -> str:
    for form in metadata:
        if isinstance(form, Form):
            return _list_words(annotation, form)
    origin, args = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _words(args[0], list(args[1:]))
    if origin in (types.UnionType, typing.Union):
        return _words(next(arg for arg in args if arg is not type(None)), [])
    if origin is dict:
        return f"name to {_words(args[1], [])}"
    if annotation in _LINKS:
        return _link(annotation)
    raise TypeError(f"no words for {annotation}")


def _list_words(annotation: Any, form: Form) -> str:
    inner = get_args(annotation)[0] if get_origin(annotation) is tuple else None
    return f"{form.words}: {_link(inner)}" if inner in _LINKS else form.words


def _link(model: type[BaseModel]) -> str:
    title = _LINKS[model]
    anchor = "".join(char for char in title.lower().replace(" ", "-") if char.isalnum() or char in "-_")
    return f"[{title.split(': ')[-1].lower()}](#{anchor})"


def _is_duration(field: FieldInfo) -> bool:
    return _words(field.annotation, field.metadata).startswith("duration")


def _duration(seconds: float) -> str:
    """In the largest unit that divides it, as people write it: `1d`, but `90d` and not 12.9 weeks."""
    if seconds == 0:
        return "0s"
    unit, size = next((unit, size) for unit, size in _UNITS if unit != "w" and seconds % size == 0)
    return f"{int(seconds // size)}{unit}"

"""A frozen model out of a sheet, with every fault told where it stands and in words for people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Generic, TypeVar, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from uniun_bots.errors import Fault
from uniun_bots.personas.coherence import Clash
from uniun_bots.personas.scalars import did_you_mean
from uniun_bots.personas.sheet import Loc, Sheet, dotted
from uniun_bots.personas.shown import shown

M = TypeVar("M", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Schema(Generic[M]):
    model: type[M]
    given: dict[str, object]
    """Values that the loader adds and no file may set."""
    stand_ins: dict[str, object]
    """For required keys that are missing or wrong, so that the rest can be looked at together."""
    missing: dict[str, str]
    """What to write, by key."""
    unwritable: dict[str, str]
    """Fields that are no keys of the file, with what to tell whoever writes one."""


@dataclass(frozen=True, slots=True)
class Reading(Generic[M]):
    value: M | None
    """With faults: what could be read, to look for more faults, never to be used."""
    faults: tuple[Fault, ...]
    broken: frozenset[str]
    """Top-level keys whose value in `value` is not what the file says."""


def read_model(schema: Schema[M], sheet: Sheet) -> Reading[M]:
    if not sheet.readable:
        return Reading(None, sheet.faults, frozenset())
    tree = {key: value for key, value in sheet.tree.items() if key not in schema.unwritable}
    forbidden = [_unknown(schema, sheet, (key,)) for key in sheet.tree if key in schema.unwritable]
    broken = {str(loc[0]) for loc in sheet.spoiled if loc}
    try:
        return Reading(_validated(schema, tree), (*sheet.faults, *forbidden), frozenset(broken))
    except ValidationError as error:
        details = _untold(schema, sheet, error.errors(include_url=False))
    broken |= {str(loc[0]) for found in details for loc in _touched(schema, found) if loc}
    faults = [_fault(schema, sheet, found) for found in details]
    return Reading(_mended(schema, tree, broken), (*sheet.faults, *forbidden, *faults), frozenset(broken))


def with_clashes(
    reading: Reading[M], sheet: Sheet, clashes: Sequence[Clash], before: tuple[Fault, ...]
) -> Reading[M]:
    """Faults of the whole file; what stands on a line with a secret is told once, without its value."""
    secret_lines = {fault.line for fault in before if fault.line > 1}
    faults = [fault for fault in reading.faults if fault.line not in secret_lines]
    faults += [sheet.fault(c.loc, c.message) for c in clashes if not c.keys & reading.broken]
    return Reading(reading.value, before + tuple(faults), reading.broken)


def _validated(schema: Schema[M], tree: dict[str, object]) -> M:
    return schema.model.model_validate(tree | schema.given, by_alias=True, by_name=False)


def _mended(schema: Schema[M], tree: dict[str, object], broken: set[str]) -> M | None:
    kept = {key: value for key, value in tree.items() if key not in broken}
    try:
        return _validated(schema, schema.stand_ins | kept)
    except ValidationError:
        return None


def _untold(schema: Schema[M], sheet: Sheet, details: list[ErrorDetails]) -> list[ErrorDetails]:
    """Without what the reader told already, and without `missing` where the key is there but mistyped."""
    meant = {loc for found in details for loc in _touched(schema, found) if loc != found["loc"]}
    return [
        found
        for found in details
        if not any(found["loc"][:length] in sheet.spoiled for length in range(1, len(found["loc"]) + 1))
        and not (found["type"] == "missing" and found["loc"] in meant)
    ]


def _touched(schema: Schema[M], found: ErrorDetails) -> list[Loc]:
    """Where the error is, and the key that was probably meant."""
    loc: Loc = found["loc"]
    meant = _meant(schema, loc) if found["type"] == "extra_forbidden" else []
    return [loc, *((*loc[:-1], key) for key in meant)]


def _meant(schema: Schema[M], loc: Loc) -> list[str]:
    return get_close_matches(str(loc[-1])[:80], _known(schema, loc[:-1]), 1, 0.6)


def _known(schema: Schema[M], around: Loc) -> list[str]:
    keys = file_keys(_model_at(schema.model, around))
    return [key for key in keys if around or key not in schema.unwritable]


def _fault(schema: Schema[M], sheet: Sheet, found: ErrorDetails) -> Fault:
    loc: Loc = found["loc"]
    match found["type"]:
        case "extra_forbidden":
            return _unknown(schema, sheet, loc)
        case "missing":
            hint = schema.missing.get(str(loc[-1]), "")
            return sheet.fault(loc, f"{dotted(loc)} is missing{': ' + hint if hint else ''}")
        case "value_error":
            return sheet.fault(loc, f"{dotted(loc)} {found['ctx']['error']}")
        case "model_type" | "dict_type" | "model_attributes_type":
            return sheet.fault(
                loc, f"{dotted(loc)} must be a mapping (`key: value`), not {_kind(found['input'])}"
            )
    return sheet.fault(loc, f"{dotted(loc)} is not usable: {found['msg'].lower()}")


def _unknown(schema: Schema[M], sheet: Sheet, loc: Loc) -> Fault:
    key, around = str(loc[-1]), loc[:-1]
    hint = schema.unwritable.get(key, "") if not around else ""
    hint = hint or did_you_mean(_meant(schema, loc)) or _elsewhere(schema.model, key, around)
    hint = hint or f"; the keys here are {', '.join(sorted(_known(schema, around)))}"
    return sheet.fault(loc, f"unknown key {shown(key)}{_within(around)}{hint}", at_key=True)


def _elsewhere(model: type[BaseModel], key: str, around: Loc) -> str:
    if around and key in file_keys(model):
        return f": it belongs at the top, not under {shown(around[0])}"
    for name, info in model.model_fields.items():
        inner = _inner_model(info.annotation)
        if inner and (name,) != around and key in file_keys(inner):
            return f": it belongs under `{name}`"
    return ""


def file_keys(model: type[BaseModel]) -> dict[str, Any]:
    """The keys that a file may use, with the type of each."""
    keys = {str(info.validation_alias or name): info.annotation for name, info in model.model_fields.items()}
    return {key: annotation for key, annotation in keys.items() if " " not in key}


def _model_at(model: type[BaseModel], loc: Loc) -> type[BaseModel]:
    for step in loc:
        if isinstance(step, str) and step in file_keys(model):
            model = _inner_model(file_keys(model)[step]) or model
    return model


def _inner_model(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((inner for part in get_args(annotation) if (inner := _inner_model(part))), None)


def _within(loc: Loc) -> str:
    return f" in {dotted(loc)}" if loc else ""


def _kind(value: object) -> str:
    return "a list" if isinstance(value, list | tuple) else "text"

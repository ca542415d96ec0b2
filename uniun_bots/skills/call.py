"""Read what a model said as one call. Only its own answer is ever read so, never what stands in notes or results."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from pydantic import ValidationError

from uniun_bots.nostr.text import clean
from uniun_bots.personas.shown import shown
from uniun_bots.skills.arguments import Arguments
from uniun_bots.skills.registry import Registered, Registration

LONGEST_ANSWER = 60_000
_NAMES = ("skill", "tool", "name")
_ARGUMENTS = ("arguments", "parameters", "args")
_FENCED = re.compile(r"\A\s*```(?:json)?\s*(.*?)\s*```\s*\Z", re.DOTALL | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Call:
    skill: Registered
    arguments: Arguments
    """Of the type that the skill names."""

    @property
    def key(self) -> str:
        """Equal for calls that ask the same."""
        return f"{self.skill.name} {self.arguments.model_dump_json()}"


class Wrong(StrEnum):
    NO_CALL = "no call"
    """There is no JSON object, or it is cut off."""
    UNKNOWN_SKILL = "unknown skill"
    ARGUMENTS = "arguments"


@dataclass(frozen=True, slots=True)
class BadCall:
    wrong: Wrong
    told: str
    """To the model; never repeats more than a few words of it."""


def read_call(text: str, registration: Registration) -> Call | BadCall:
    """The first complete JSON object decides; what stands around it is nothing."""
    found = next(_objects(text[:LONGEST_ANSWER]), None)
    if found is None:
        return BadCall(Wrong.NO_CALL, "answer with one JSON object: a skill and its arguments")
    name = _first(found, _NAMES)
    if not isinstance(name, str) or not name.strip():
        return BadCall(Wrong.UNKNOWN_SKILL, "the call names no skill")
    skill = registration.get(name.strip())
    if skill is None:
        return BadCall(Wrong.UNKNOWN_SKILL, _not_there(name.strip(), registration))
    return _with_arguments(skill, _first(found, _ARGUMENTS))


def _not_there(name: str, registration: Registration) -> str:
    names = registration.names()
    meant = re.sub(r"[\s_]+", "-", name.lower())
    if meant in names:
        return f"unknown skill {shown(name)}: it is written {meant}"
    return f"unknown skill {shown(name)}; available: {', '.join(names)}"


def _with_arguments(skill: Registered, given: object) -> Call | BadCall:
    if isinstance(given, str):
        # Some models write the object as text once more.
        inner = _FENCED.sub(r"\1", given)
        given = next(_objects(inner), given) if inner.lstrip().startswith("{") else given
    if given is None:
        given = {}
    if not isinstance(given, dict):
        return BadCall(Wrong.ARGUMENTS, "arguments must be an object")
    try:
        return Call(skill, skill.arguments.model_validate(_cleaned(given)))
    except ValidationError as error:
        return BadCall(
            Wrong.ARGUMENTS, "; ".join(_told(found) for found in error.errors(include_url=False)[:4])
        )


def _told(found: Mapping[str, Any]) -> str:
    where = ".".join(str(step) for step in found["loc"])
    match found["type"]:
        case "extra_forbidden":
            return f"{shown(where)} is no argument of this skill"
        case "missing":
            return f"{shown(where)} is missing"
    return f"{shown(where)} is not usable: {found['msg'].lower()}"


def _first(found: Mapping[str, object], keys: tuple[str, ...]) -> object:
    return next((found[key] for key in keys if key in found), None)


def _objects(text: str) -> Iterator[dict[str, object]]:
    """JSON first; a Python literal second, as far as JSON can hold it. Nothing is ever evaluated."""
    decoder = json.JSONDecoder(parse_constant=_no_number)
    at = text.find("{")
    if at < 0:
        return
    try:
        value, _ = decoder.raw_decode(text, at)
    except (ValueError, RecursionError):
        value = _literal(text[at:])
    if isinstance(value, dict):
        yield value


def _no_number(word: str) -> None:
    raise ValueError(f"{word} is no JSON")


def _literal(text: str) -> object:
    """`{'tool': 'x', 'day': None}`. Up to the last closing brace, since Python cannot say where a value ends."""
    try:
        value = ast.literal_eval(text[: text.rfind("}") + 1])
        # Only what JSON can hold: no sets, no bytes.
        return json.loads(json.dumps(value))
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return None


def _cleaned(value: Any) -> Any:
    """Text without control characters and half characters, however the model escaped them."""
    match value:
        case str():
            return clean(value)
        case list():
            return [_cleaned(one) for one in value]
        case dict():
            return {clean(str(key)): _cleaned(one) for key, one in value.items()}
    return value

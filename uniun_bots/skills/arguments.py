"""What a model may give to a skill: one type for each shape, and nothing more than its fields.

Reading is kinder than the schema that the model is held to: a handle that was never shown must not spoil a call,
it is dropped where the call is carried out.
"""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema

MOST_REFERENCES = 8
LAST_PAGE = 50
LONGEST_QUERY = 200
LONGEST_BODY = 20_000
"""Characters of a post that are read at all; `output.max_chars` is the gate's affair."""
LONGEST_REMINDER = 500
LONGEST_WAIT_MINUTES = 60 * 24 * 365

_HANDLE = {"type": "string", "pattern": "^n[1-9][0-9]{0,2}$"}

Handle = Annotated[str, Field(max_length=100), WithJsonSchema(_HANDLE)]


def _bounded(value: object) -> object:
    """Models repeat themselves: what is beyond any sensible length is no reason to refuse the post."""
    return value[:1000] if isinstance(value, list) else value


Handles = Annotated[
    tuple[Handle, ...],
    BeforeValidator(_bounded),
    WithJsonSchema({"type": "array", "items": _HANDLE, "maxItems": MOST_REFERENCES}),
]


class Arguments(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class Nothing(Arguments):
    pass


class Query(Arguments):
    query: Annotated[str, Field(min_length=1, max_length=LONGEST_QUERY)]


class OfNote(Arguments):
    note: Handle


class OfThread(Arguments):
    note: Handle | None = None
    """Without one: the thread that is answered."""


class About(Arguments):
    about: Annotated[str, Field(max_length=LONGEST_QUERY)] = ""


# Grammars know no bounds of numbers.
_PAGES = {"type": "integer", "enum": [*range(1, LAST_PAGE + 1)]}


class Page(Arguments):
    page: Annotated[int, Field(ge=1, le=LAST_PAGE), WithJsonSchema(_PAGES)] = 1


class Post(Arguments):
    body: Annotated[str, Field(max_length=LONGEST_BODY)]
    referenceNoteIds: Handles = ()


class RemindMe(Arguments):
    text: Annotated[str, Field(min_length=1, max_length=LONGEST_REMINDER)]
    in_minutes: Annotated[int, Field(ge=1, le=LONGEST_WAIT_MINUTES)]


class ShareExternal(Arguments):
    text: Annotated[str, Field(min_length=1, max_length=LONGEST_BODY)]


def schema_of(arguments: type[Arguments], max_chars: int | None = None) -> dict[str, Any]:
    """JSON schema of an object with these fields and no others. `max_chars`: of the body of a post."""
    properties = dict(_properties(arguments))
    if max_chars is not None and "body" in properties:
        properties["body"] = {"type": "string", "minLength": 1, "maxLength": max_chars}
    # A list may be empty, but is said: small models go on more surely along fields that are always there.
    required = [
        name
        for name, info in arguments.model_fields.items()
        if info.is_required() or properties[name]["type"] == "array"
    ]
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


@cache
def _properties(arguments: type[Arguments]) -> dict[str, Any]:
    return {name: _plain(one) for name, one in arguments.model_json_schema().get("properties", {}).items()}


def _plain(schema: dict[str, Any]) -> dict[str, Any]:
    """Without what says nothing to a model; an optional field is left out instead of being null."""
    chosen = next((one for one in schema.get("anyOf", ()) if one.get("type") != "null"), schema)
    return {key: value for key, value in chosen.items() if key not in ("title", "default", "anyOf")}

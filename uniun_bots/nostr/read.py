"""Events from outside become values here, or BadEvent and nothing else."""

from __future__ import annotations

import json
import re
from typing import Any

from nostr_sdk import Event as SdkEvent
from nostr_sdk import NostrSdkError

from uniun_bots.errors import BadEvent
from uniun_bots.nostr.event import Draft, Event, Tag
from uniun_bots.nostr.event_id import as_utf8, event_id, is_id

SIZE_CAP_BYTES = 1024 * 1024
"""Contact lists and long texts of a few hundred thousand bytes are real."""
LAST_SECOND = 2**53
LAST_KIND = 65535

_SIGNATURE = re.compile(r"[0-9a-f]{128}")


def read_event(raw: bytes | str) -> Event:
    """Check shape, types and ranges (NIP-01); `verify` checks id and signature. Raises BadEvent.

    `raw` of the result is written anew: foreign fields, spaces and second spellings are gone.
    """
    fields = _parsed(raw)
    if not isinstance(fields, dict):
        raise BadEvent(f"an event is a JSON object, this is {_json_name(fields)}")
    tags = _tags(_given(fields, "tags"))
    found: dict[str, Any] = {
        "id": _hex(fields, "id", is_id),
        "pubkey": _hex(fields, "pubkey", is_id),
        "created_at": _number(fields, "created_at", LAST_SECOND),
        "kind": _number(fields, "kind", LAST_KIND),
        "tags": tags,
        "content": _text(fields, "content"),
        "sig": _hex(fields, "sig", _SIGNATURE.fullmatch),
    }
    clean = as_utf8(json.dumps(found, ensure_ascii=False, separators=(",", ":")))
    return _event(found, tags, clean)


def from_sdk(sdk_event: SdkEvent) -> Event:
    """An event that the SDK has parsed and verified already. Raises BadEvent for what is out of range."""
    # One call over the language border and a JSON parse: several times faster than asking field by field.
    text = sdk_event.as_json()
    raw = text.encode()
    _check_size(len(raw))
    fields = json.loads(text)
    if fields["created_at"] > LAST_SECOND:
        raise BadEvent(f"created_at must be a whole number from 0 to {LAST_SECOND}")
    return _event(fields, tuple(map(tuple, fields["tags"])), raw)


def verify(event: Event) -> bool:
    """Whether id and signature fit: both what stands in `raw` and the fields beside it."""
    draft = Draft(kind=event.kind, content=event.content, tags=event.tags, created_at=event.created_at)
    try:
        signed = SdkEvent.from_json(event.raw.decode())
        return (
            event_id(event.author, draft) == event.id and signed.id().to_hex() == event.id and signed.verify()
        )
    except (NostrSdkError, UnicodeDecodeError, BadEvent):
        return False


def _event(fields: dict[str, Any], tags: tuple[Tag, ...], raw: bytes) -> Event:
    return Event(
        id=fields["id"],
        author=fields["pubkey"],
        created_at=fields["created_at"],
        kind=fields["kind"],
        tags=tags,
        content=fields["content"],
        raw=raw,
    )


def _parsed(raw: bytes | str) -> Any:
    if isinstance(raw, str):
        raw = as_utf8(raw)
    _check_size(len(raw))
    try:
        return json.loads(raw.decode())
    # RecursionError is deep nesting; ValueError is bad UTF-8, bad JSON and numbers of thousands of digits.
    except (ValueError, RecursionError) as error:
        raise BadEvent(f"not a JSON event: {_said(error)}") from None


def _said(error: ValueError | RecursionError) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg}, at character {error.pos + 1}"
    return "it is no UTF-8" if isinstance(error, UnicodeDecodeError) else "too deep, or a number is too long"


def _check_size(size_bytes: int) -> None:
    if size_bytes > SIZE_CAP_BYTES:
        raise BadEvent(f"the event has {size_bytes} bytes, at most {SIZE_CAP_BYTES} are read")


def _given(fields: dict[str, Any], name: str) -> Any:
    if name not in fields:
        raise BadEvent(f"{name} is missing")
    return fields[name]


def _text(fields: dict[str, Any], name: str) -> str:
    value = _given(fields, name)
    if not isinstance(value, str):
        raise BadEvent(f"{name} must be a string, this is {_json_name(value)}")
    return value


def _hex(fields: dict[str, Any], name: str, fits: Any) -> str:
    value = _text(fields, name)
    if fits(value):
        return value
    if fits(value.lower()):
        raise BadEvent(f"{name} is in upper-case hex; ids are computed over the lower-case form")
    raise BadEvent(f"{name} must be {128 if name == 'sig' else 64} lower-case hex characters")


def _number(fields: dict[str, Any], name: str, most: int) -> int:
    value = _given(fields, name)
    # `true` is an int in Python, 1750000000.0 and NaN are floats.
    if type(value) is not int or not 0 <= value <= most:
        raise BadEvent(f"{name} must be a whole number from 0 to {most}")
    return value


def _tags(value: Any) -> tuple[Tag, ...]:
    if not isinstance(value, list):
        raise BadEvent(f"tags must be an array, this is {_json_name(value)}")
    for tag in value:
        if not isinstance(tag, list) or not tag or not all(isinstance(item, str) for item in tag):
            raise BadEvent("each tag must be an array of one or more strings")
    return tuple(map(tuple, value))


def _json_name(value: Any) -> str:
    names = {dict: "an object", list: "an array", str: "a string", bool: "a boolean", type(None): "null"}
    return names.get(type(value), "a number")

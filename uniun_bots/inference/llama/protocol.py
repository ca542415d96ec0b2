"""What host and worker say to each other: one JSON object a line.

host -> worker   Load (once, first)   Count   Generate   Cancel
worker -> host   Loaded   Counted   Piece*   Done   Failed
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, cast

from uniun_bots.inference.completion import Finish
from uniun_bots.inference.request import Message, Request

CANCELLED = "Cancelled"
"""The kind of a Failed that answers a Cancel."""


@dataclass(frozen=True, slots=True)
class Load:
    path: str
    context_tokens: int
    threads: int | None
    plain: bool = False
    """Without the weight layouts for special instructions (AMX and the like)."""
    id: int = 0


@dataclass(frozen=True, slots=True)
class Count:
    id: int
    messages: tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class Generate:
    id: int
    request: Request


@dataclass(frozen=True, slots=True)
class Cancel:
    id: int


@dataclass(frozen=True, slots=True)
class Loaded:
    context_tokens: int
    id: int = 0


@dataclass(frozen=True, slots=True)
class Counted:
    id: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Piece:
    """A sign of life: more text, or none while the prompt is being read."""

    id: int
    text: str


@dataclass(frozen=True, slots=True)
class Done:
    id: int
    text: str
    finish: Finish
    prompt_tokens: int
    reused_tokens: int
    generated_tokens: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Failed:
    id: int
    kind: str
    """The name of an error class, or CANCELLED."""
    message: str
    numbers: tuple[int, ...] = ()
    """Arguments of an error that takes counts."""


ToWorker = Load | Count | Generate | Cancel
FromWorker = Loaded | Counted | Piece | Done | Failed
_BY_NAME: Mapping[str, type[ToWorker] | type[FromWorker]] = {
    kind.__name__: kind for kind in (Load, Count, Generate, Cancel, Loaded, Counted, Piece, Done, Failed)
}


def encode(message: ToWorker | FromWorker) -> bytes:
    return json.dumps({"type": type(message).__name__, **asdict(message)}).encode() + b"\n"


def decode(line: bytes) -> ToWorker | FromWorker:
    fields: dict[str, Any] = json.loads(line)
    kind = _BY_NAME[fields.pop("type")]
    if "messages" in fields:
        fields["messages"] = _messages(fields["messages"])
    if "request" in fields:
        fields["request"] = _request(fields["request"])
    if "numbers" in fields:
        fields["numbers"] = tuple(fields["numbers"])
    return kind(**fields)


def _request(fields: Mapping[str, object]) -> Request:
    messages = _messages(cast("Sequence[Mapping[str, Any]]", fields["messages"]))
    stop = tuple(cast("Sequence[str]", fields["stop"]))
    return Request(**{**cast("dict[str, Any]", fields), "messages": messages, "stop": stop})


def _messages(rows: Sequence[Mapping[str, Any]]) -> tuple[Message, ...]:
    return tuple(Message(**row) for row in rows)

"""What is sent for one request."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from uniun_bots.errors import SchemaRefused
from uniun_bots.inference.marks import break_apart
from uniun_bots.inference.request import Message, Request
from uniun_bots.personas.settings import JsonDialect

MOST_LENGTH = 1000
"""Servers make a rule of every character that a string may have, and fall over many; a longer text is ended by
the token limit."""
IN_WORDS = "Answer with nothing but one JSON object that satisfies this JSON schema:"


def body_of(request: Request, model: str, dialect: JsonDialect, *, priority: bool) -> dict[str, Any]:
    """Raises SchemaRefused when the schema is no JSON object."""
    schema = _schema(request.json_schema)
    messages = spoken(request.messages)
    if schema is not None and dialect is JsonDialect.NONE:
        messages = _asked_in_words(messages, request.json_schema or "")
    body: dict[str, Any] = {
        "model": model,
        "messages": messages,
        "max_tokens": request.max_tokens,
        "temperature": request.temperature,
        "top_p": request.top_p,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    if request.seed is not None:
        body["seed"] = request.seed
    if request.stop:
        body["stop"] = list(request.stop)
    if priority and request.tier is not None:
        body["priority"] = request.tier
    return body | _response_format(schema, dialect)


def spoken(messages: Sequence[Message]) -> list[dict[str, str]]:
    """The server reads control tokens wherever they stand, so no content carries one."""
    return [{"role": message.role, "content": break_apart(message.content)} for message in messages]


def _schema(text: str | None) -> dict[str, Any] | None:
    if text is None:
        return None
    try:
        schema = json.loads(text)
    except ValueError as fault:
        raise SchemaRefused(f"the schema is not JSON: {fault}") from fault
    if not isinstance(schema, dict):
        raise SchemaRefused(f"the schema is not a JSON object: {text[:80]}")
    found: dict[str, Any] = _without_long_lengths(schema)
    return found


def _without_long_lengths(found: Any) -> Any:
    if isinstance(found, list):
        return [_without_long_lengths(one) for one in found]
    if not isinstance(found, dict):
        return found
    return {
        key: _without_long_lengths(value)
        for key, value in found.items()
        if key != "maxLength" or not isinstance(value, int) or value <= MOST_LENGTH
    }


def _response_format(schema: dict[str, Any] | None, dialect: JsonDialect) -> dict[str, Any]:
    if schema is None or dialect is JsonDialect.NONE:
        return {}
    if dialect is JsonDialect.JSON_OBJECT:
        return {"response_format": {"type": "json_object", "schema": schema}}
    named = {"name": "answer", "schema": schema, "strict": True}
    return {"response_format": {"type": "json_schema", "json_schema": named}}


def _asked_in_words(messages: list[dict[str, str]], schema: str) -> list[dict[str, str]]:
    words = f"{IN_WORDS}\n{schema}"
    if messages and messages[0]["role"] == "system":
        first = {"role": "system", "content": f"{messages[0]['content']}\n\n{words}"}
        return [first, *messages[1:]]
    return [{"role": "system", "content": words}, *messages]
